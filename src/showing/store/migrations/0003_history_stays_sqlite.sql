CREATE TRIGGER history_unchanged BEFORE UPDATE ON history
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TRIGGER history_undeleted BEFORE DELETE ON history
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
