// SPDX-License-Identifier: BSD-3-Clause
//
// What a tensor of 150 KB costs to decode from an EValue message, and from a tf.Example: by protobuf-c, by protobuf's
// C++ library, and by the conversion of this project, which leaves the floats where they are, too. Interleaved rounds,
// medians of 9. Prints; asserts no time.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tfexample.pb.h"

extern "C" {
#include "../../src/tfexample/tfexample.h"
#include "tfexample.pb-c.h"
}

#include "evalue/evalue.h"
#include "timing.h"

namespace {

const int NUMEL = 3 * 112 * 112, REPEATS = 1000, ALIGNMENT = 64, WAYS = 5;

void check(bool is_good) {
  if (!is_good) std::abort();
}

struct bench {
  std::string example;
  uint8_t *message;
  uint64_t message_size;
  tensorflow::Example kept; // a message object that is used again
  evalue_tfexample_feature feature;
  evalue_tfexample converter;
};

// Each way gives the last of the floats, so that none can leave its work out.
float by_evalue(const bench &b) {
  evalue v;
  size_t n;
  check(evalue_message_decode(b.message, static_cast<size_t>(b.message_size), nullptr, &v, 1, &n, nullptr) ==
        EVALUE_OK);
  return static_cast<const float *>(evalue_tensor_typed_data(&v.tensor, EVALUE_FLOAT32))[NUMEL - 1];
}

float by_protobuf_c(const bench &b) {
  const uint8_t *data = reinterpret_cast<const uint8_t *>(b.example.data());
  Tensorflow__Example *e = tensorflow__example__unpack(nullptr, b.example.size(), data);
  check(e != nullptr);
  float last = e->features->feature[0]->value->float_list->value[NUMEL - 1];
  tensorflow__example__free_unpacked(e, nullptr);
  return last;
}

float by_protobuf(tensorflow::Example *e, const bench &b) {
  check(e->ParseFromString(b.example));
  return e->features().feature().at("image").float_list().value(NUMEL - 1);
}

float by_conversion(bench &b) {
  evalue v;
  check(evalue_tfexample_decode(&b.converter, b.example.data(), b.example.size(), &v, nullptr) == EVALUE_OK);
  float last;
  memcpy(&last, static_cast<const uint8_t *>(v.tensor.data) + (NUMEL - 1) * sizeof last, sizeof last);
  return last;
}

float run(bench &b, int way) {
  switch (way) {
    case 0: return by_evalue(b);
    case 1: return by_protobuf_c(b);
    case 2: {
      tensorflow::Example fresh;
      return by_protobuf(&fresh, b);
    }
    case 3: return by_protobuf(&b.kept, b);
    default: return by_conversion(b);
  }
}

void prepare(bench &b) {
  static float numbers[NUMEL];
  const int32_t sizes[] = {3, 112, 112};
  evalue_tensor t;
  void *message = nullptr;
  auto *list = (*b.kept.mutable_features()->mutable_feature())["image"].mutable_float_list();
  for (int i = 0; i < NUMEL; i++) {
    numbers[i] = static_cast<float>(i) * 0.37F;
    list->add_value(numbers[i]);
  }
  check(b.kept.SerializeToString(&b.example));
  check(evalue_tensor_init(&t, EVALUE_FLOAT32, 3, sizes, numbers, sizeof numbers) == EVALUE_OK);
  evalue v = evalue_from_tensor(&t);
  check(evalue_message_size(&v, 1, ALIGNMENT, &b.message_size) == EVALUE_OK);
  check(posix_memalign(&message, ALIGNMENT, static_cast<size_t>(b.message_size)) == 0);
  b.message = static_cast<uint8_t *>(message);
  check(evalue_message_encode(&v, 1, ALIGNMENT, b.message, static_cast<size_t>(b.message_size), &b.message_size) ==
        EVALUE_OK);
  check(evalue_tfexample_feature_parse(&b.feature, "image:float32[3,112,112]", nullptr) == EVALUE_OK);
  check(evalue_tfexample_init(&b.converter, &b.feature, 1, nullptr, nullptr) == EVALUE_OK);
}

} // namespace

int main() {
  static const char *const names[] = {"EValue message", "protobuf-c", "protobuf C++, new", "protobuf C++, reused",
                                      "evalue_tfexample"};
  static double times[WAYS][ROUNDS];
  bench b{};
  prepare(b);
  const float last = static_cast<float>(NUMEL - 1) * 0.37F;
  for (int round = -1; round < ROUNDS; round++) { // the first one warms up
    for (int k = 0; k < WAYS; k++) {
      int way = (k + round + 1) % WAYS;
      double start = now();
      for (int i = 0; i < REPEATS; i++) check(run(b, way) == last);
      if (round >= 0) times[way][round] = (now() - start) / REPEATS;
    }
  }
  double ours = median(times[0]);
  std::printf("A float32 tensor of %d bytes, medians of %d interleaved rounds\n", NUMEL * 4, ROUNDS);
  for (int way = 0; way < WAYS; way++) {
    double t = way == 0 ? ours : median(times[way]);
    std::printf("  %-20s  %8.0f ns", names[way], t * 1e9);
    if (way != 0) std::printf("   the message takes %.4f of it", ours / t);
    std::printf("\n");
  }
  evalue_tfexample_close(&b.converter);
  std::free(b.message);
  return 0;
}
