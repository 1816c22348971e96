#include "sut/process.h"

#include <utility>

namespace assay::sut {

Process& Process::instance() {
  static Process* const process = new Process;
  return *process;
}

Desk& Process::desk(std::uint32_t number) {
  Lock lock(mutex_);
  std::atomic<Desk*>& place = desks_.at(number);
  if (place.load(std::memory_order_relaxed) == nullptr) {
    place.store(new Desk(static_cast<std::uint8_t>(number)), std::memory_order_release);
  }
  return *place.load(std::memory_order_relaxed);
}

void Process::note(std::string key, std::string text, Severity severity) {
  Lock lock(mutex_);
  notes_.push_back({std::move(key), std::move(text), severity});
}

void Process::write_notes(LogFiles& log) {
  std::vector<Note> notes;
  {
    Lock lock(mutex_);
    notes.swap(notes_);
  }
  for (const Note& note : notes)
    log.detail(note.key, loadgen::detail_value(note.text), note.severity);
}

bool Process::first_user_file() {
  Lock lock(mutex_);
  return !std::exchange(had_user_file_, true);
}

bool Process::begin_test() {
  Lock lock(mutex_);
  if (running_) return false;
  running_ = true;
  aborted_ = false;
  return true;
}

void Process::end_test() {
  Lock lock(mutex_);
  running_ = false;
  controls_.clear();
}

void Process::set_controls(std::vector<run::Control*> controls) {
  Lock lock(mutex_);
  controls_ = std::move(controls);
  if (!aborted_) return;
  for (run::Control* const control : controls_) control->stop_now();
}

void Process::abort() {
  Lock lock(mutex_);
  if (!running_) return;
  aborted_ = true;
  for (run::Control* const control : controls_) control->stop_now();
}

bool Process::aborted() const {
  Lock lock(mutex_);
  return aborted_;
}

}  // namespace assay::sut
