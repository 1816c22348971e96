// In place of SQLite's full-text and R-tree search, which the store does not use. Debian's archive
// registers them for each connection. A store that asked for one would hear "no such module".
int sqlite3Fts3Init(void* connection) {
  (void)connection;
  return 0;
}

int sqlite3Fts5Init(void* connection) {
  (void)connection;
  return 0;
}

int sqlite3RtreeInit(void* connection) {
  (void)connection;
  return 0;
}
