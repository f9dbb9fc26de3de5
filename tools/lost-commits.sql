-- For a database that has lost commits which the server took for durable, as after a failover to a replica that lagged
-- behind. Run it while no process of the server runs: docs/operations.md, "When the database has lost commits".
--
-- Devices and processes have seen positions, epochs and versions that the database will now draw again, for something
-- else. A new generation makes every position that devices keep invalid. The gap in the counters keeps what a
-- former process may still send behind all that is drawn from here on.
BEGIN;
UPDATE setting SET value = substr(md5(gen_random_uuid()::text), 1, 16) WHERE name = 'generation';
UPDATE counter SET value = value + 1000000;
COMMIT;
