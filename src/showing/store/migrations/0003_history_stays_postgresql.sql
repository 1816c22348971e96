CREATE FUNCTION assay_history_stays() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN RAISE EXCEPTION 'the history is append-only'; END $body$;
CREATE TRIGGER history_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON history
FOR EACH STATEMENT EXECUTE FUNCTION assay_history_stays();
