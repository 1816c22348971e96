/* Two cards with the real interface of NVML, for telemetry_test.py. Both draw 100 W when idle; card 0
 * draws 300 W. Card 1 has no energy counter, as some boards have none. */
#include <string.h>
#include <time.h>

#define SUCCESS 0
#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3

typedef struct card *device_t;
struct card {
  const char *uuid;
  unsigned milliwatts;
};
static struct card cards[2] = {{"GPU-aaaa", 300000}, {"GPU-bbbb", 100000}};
static int initialised;

int nvmlInit_v2(void) {
  initialised = 1;
  return SUCCESS;
}
int nvmlShutdown(void) {
  initialised = 0;
  return SUCCESS;
}
const char *nvmlErrorString(int code) { return code == NOT_SUPPORTED ? "Not Supported" : "?"; }
int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = 2;
  return initialised ? SUCCESS : INVALID_ARGUMENT;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *out) {
  if (index > 1) return INVALID_ARGUMENT;
  *out = &cards[index];
  return SUCCESS;
}
int nvmlDeviceGetUUID(device_t card, char *out, unsigned length) {
  if (strlen(card->uuid) >= length) return INVALID_ARGUMENT;
  strcpy(out, card->uuid);
  return SUCCESS;
}
int nvmlDeviceGetPowerUsage(device_t card, unsigned *milliwatts) {
  *milliwatts = card->milliwatts;
  return SUCCESS;
}
int nvmlDeviceGetTotalEnergyConsumption(device_t card, unsigned long long *millijoules) {
  struct timespec now;
  if (card == &cards[1]) return NOT_SUPPORTED;
  clock_gettime(CLOCK_MONOTONIC, &now);
  *millijoules = (unsigned long long)((now.tv_sec + now.tv_nsec * 1e-9) * card->milliwatts);
  return SUCCESS;
}
struct utilization {
  unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(device_t card, struct utilization *out) {
  out->gpu = card == &cards[0] ? 90 : 10;
  out->memory = 5;
  return SUCCESS;
}
struct memory {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(device_t card, struct memory *out) {
  (void)card;
  out->total = 80000000000ULL;
  out->used = 60000000000ULL;
  out->free = out->total - out->used;
  return SUCCESS;
}
int nvmlDeviceGetClockInfo(device_t card, int type, unsigned *mhz) {
  (void)card;
  *mhz = 1980;
  return type == 1 ? SUCCESS : INVALID_ARGUMENT;
}
