-- A database as release 0.1.0 left it, statement by statement: the schema it made, its records, and the rows of a
-- server (SECRET_KEY is 32 times 01, SHARD_COUNT is 4) with one account, four items and what goes with them.
-- Frozen: an upgrade has to begin with just this.

CREATE TABLE IF NOT EXISTS migration (id text NOT NULL PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS migration_lock (name text NOT NULL PRIMARY KEY);
INSERT INTO migration_lock (name) VALUES ('schema') ON CONFLICT (name) DO NOTHING;

CREATE TABLE IF NOT EXISTS node (
      id text NOT NULL PRIMARY KEY, incarnation text, address text NOT NULL, roles text NOT NULL,
      version text NOT NULL, formats text NOT NULL, started int8 NOT NULL, expires_at int8 NOT NULL);
INSERT INTO migration (id) VALUES ('runtime-0001-node') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS shard (
      shard int8 NOT NULL PRIMARY KEY, node text NOT NULL, incarnation text NOT NULL, epoch int8 NOT NULL);
INSERT INTO migration (id) VALUES ('runtime-0002-shard') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS counter (name text NOT NULL PRIMARY KEY, value int8 NOT NULL);
INSERT INTO migration (id) VALUES ('runtime-0003-counter') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS actor (
      kind text NOT NULL, id text NOT NULL, shard int8 NOT NULL, epoch int8 NOT NULL, version int8 NOT NULL,
      commit_id uuid, PRIMARY KEY (kind, id));
INSERT INTO migration (id) VALUES ('runtime-0004-actor') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS setting (name text NOT NULL PRIMARY KEY, value text NOT NULL);
INSERT INTO migration (id) VALUES ('runtime-0005-setting') ON CONFLICT (id) DO NOTHING;

ALTER TABLE node ADD COLUMN IF NOT EXISTS draining bool NOT NULL DEFAULT false;
INSERT INTO migration (id) VALUES ('runtime-0006-node-draining') ON CONFLICT (id) DO NOTHING;

ALTER TABLE node ADD COLUMN IF NOT EXISTS connected bool NOT NULL DEFAULT true;
INSERT INTO migration (id) VALUES ('runtime-0007-node-connected') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "slice" ("kind" text NOT NULL, "id" text NOT NULL, "slice" text NOT NULL, "data" bytea NOT NULL, PRIMARY KEY ("kind", "id", "slice"));
INSERT INTO migration (id) VALUES ('slice-0001-table') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "timer" ("kind" text NOT NULL, "id" text NOT NULL, "name" text NOT NULL, "shard" int8 NOT NULL, "due_at" int8 NOT NULL, "payload" bytea NOT NULL, "attempts" int8 NOT NULL, "dead" bool NOT NULL, PRIMARY KEY ("kind", "id", "name"));
INSERT INTO migration (id) VALUES ('timer-0001-table') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "outbox" ("target_kind" text NOT NULL, "target_id" text NOT NULL, "tell_id" uuid NOT NULL, "target_shard" int8 NOT NULL, "name" text NOT NULL, "payload" bytea NOT NULL, "sender_kind" text NOT NULL, "sender_id" text NOT NULL, "sender_version" int8 NOT NULL, "attempts" int8 NOT NULL, "retry_at" int8 NOT NULL, "dead" bool NOT NULL, PRIMARY KEY ("target_kind", "target_id", "tell_id"));
INSERT INTO migration (id) VALUES ('outbox-0001-table') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "call" ("kind" text NOT NULL, "id" text NOT NULL, "call_key" text NOT NULL, "shard" int8 NOT NULL, "reply" bytea NOT NULL, "at" int8 NOT NULL, PRIMARY KEY ("kind", "id", "call_key"));
INSERT INTO migration (id) VALUES ('call-0001-table') ON CONFLICT (id) DO NOTHING;

CREATE INDEX IF NOT EXISTS timer_due ON timer (shard, due_at) WHERE dead = false;
INSERT INTO migration (id) VALUES ('timer-0002-due') ON CONFLICT (id) DO NOTHING;

CREATE INDEX IF NOT EXISTS outbox_pending ON outbox (target_shard, retry_at) WHERE dead = false;
INSERT INTO migration (id) VALUES ('outbox-0002-pending') ON CONFLICT (id) DO NOTHING;

CREATE INDEX IF NOT EXISTS call_age ON call (shard, at);
INSERT INTO migration (id) VALUES ('call-0002-age') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "account" ("user_uuid" uuid NOT NULL, "workspace" text NOT NULL, "identifier" text NOT NULL, "password_hash" text NOT NULL, "credentials_version" int8 NOT NULL, "key_params" text NOT NULL, PRIMARY KEY ("user_uuid"));
INSERT INTO migration (id) VALUES ('account-0001-table') ON CONFLICT (id) DO NOTHING;

CREATE UNIQUE INDEX IF NOT EXISTS "account_unique_workspace_identifier" ON "account" ("workspace", "identifier");
INSERT INTO migration (id) VALUES ('account-0001-unique-workspace-identifier') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "item" ("collection" uuid NOT NULL, "uuid" uuid NOT NULL, "position" int8 NOT NULL, "created_position" int8 NOT NULL, "size" int8 NOT NULL, "owner_uuid" uuid NOT NULL, "content_type" text, "content" text, "enc_item_key" text, "items_key_id" text, "auth_hash" text, "duplicate_of" text, "deleted" bool NOT NULL, "created_at_timestamp" int8 NOT NULL, "updated_at_timestamp" int8 NOT NULL, "key_system_identifier" text, "shared_vault_uuid" uuid, "last_edited_by_uuid" uuid, "updated_with_session" uuid, "fingerprint" bytea NOT NULL, "content_parts" int8 NOT NULL, PRIMARY KEY ("collection", "uuid", "created_position"));
INSERT INTO migration (id) VALUES ('item-0001-table') ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS "item_part" ("collection" uuid NOT NULL, "uuid" uuid NOT NULL, "part" int8 NOT NULL, "content" text NOT NULL, PRIMARY KEY ("collection", "uuid", "part"));
INSERT INTO migration (id) VALUES ('item-0001-part') ON CONFLICT (id) DO NOTHING;

CREATE UNIQUE INDEX IF NOT EXISTS "item_unique_uuid" ON "item" ("uuid");
INSERT INTO migration (id) VALUES ('item-0001-unique-uuid') ON CONFLICT (id) DO NOTHING;

CREATE INDEX IF NOT EXISTS "item_by_order" ON "item" ("collection", "position");
INSERT INTO migration (id) VALUES ('item-0001-by-order') ON CONFLICT (id) DO NOTHING;

CREATE INDEX IF NOT EXISTS "item_by_front" ON "item" ("collection", "position") WHERE "content_type" IN ('SN|ItemsKey', 'SN|UserPreferences', 'SN|Theme');
INSERT INTO migration (id) VALUES ('item-0001-by-front') ON CONFLICT (id) DO NOTHING;

INSERT INTO node (id, incarnation, address, roles, version, formats, started, expires_at, draining, connected)
  VALUES ('main', NULL, 'in-process', 'all', '0.1.0', 1, 1, 0, false, true);
INSERT INTO shard (shard, node, incarnation, epoch)
  VALUES (0, 'main', '855257a3-8a66-40e5-b2e0-4eca14107128', 1);
INSERT INTO shard (shard, node, incarnation, epoch)
  VALUES (1, 'main', '855257a3-8a66-40e5-b2e0-4eca14107128', 1);
INSERT INTO shard (shard, node, incarnation, epoch)
  VALUES (2, 'main', '855257a3-8a66-40e5-b2e0-4eca14107128', 1);
INSERT INTO shard (shard, node, incarnation, epoch)
  VALUES (3, 'main', '855257a3-8a66-40e5-b2e0-4eca14107128', 1);
INSERT INTO counter (name, value)
  VALUES ('epoch', 1);
INSERT INTO counter (name, value)
  VALUES ('start', 1);
INSERT INTO actor (kind, id, shard, epoch, version, commit_id)
  VALUES ('signin', '125f24596958e382fc873cd94ac83a4cd39c89e8aee114af9c0b8cbb37e17015', 3, 1, 1, '1ee29994-0729-405e-81b5-cc23bfc716b8');
INSERT INTO actor (kind, id, shard, epoch, version, commit_id)
  VALUES ('signin', 'cb8bca7008b15ba95e2c4742ba5067bd1cd98be8bb63d3bc202e6b06934e950a', 1, 1, 1, '9a986a82-0a2b-484f-b8d3-b6550b9eec32');
INSERT INTO actor (kind, id, shard, epoch, version, commit_id)
  VALUES ('signin', 'f4c47753b43963b3dc15ece5d718605c56f892beb2582fbbb36df62ebb99b607', 3, 1, 3, '392be26c-a53b-4bdc-b825-61abc01570e4');
INSERT INTO actor (kind, id, shard, epoch, version, commit_id)
  VALUES ('user', 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 3, 1, 3, '493f5bfc-e3f7-41b4-bcc3-d4ad4abc7971');
INSERT INTO setting (name, value)
  VALUES ('cluster-name', 'scriptorium');
INSERT INTO setting (name, value)
  VALUES ('generation', 'iAH6DckXRTYpBFEu');
INSERT INTO setting (name, value)
  VALUES ('resharding', 'none');
INSERT INTO setting (name, value)
  VALUES ('secret-key-fingerprint', '0b3f1c5ae6761f31f4def3bdeefcb5adadd27212fd66986d2cdb68f0f22af586');
INSERT INTO setting (name, value)
  VALUES ('shard-count', '4');
INSERT INTO slice (kind, id, slice, data)
  VALUES ('signin', 'cb8bca7008b15ba95e2c4742ba5067bd1cd98be8bb63d3bc202e6b06934e950a', 'challenge:cdde4c26febdf9d2f3b34a1dea95bbd2280bf2207f64a1b404608e31a3c4b197', '\x0181a7756e74696c4d73cb427a201793a5d000');
INSERT INTO slice (kind, id, slice, data)
  VALUES ('signin', 'f4c47753b43963b3dc15ece5d718605c56f892beb2582fbbb36df62ebb99b607', 'attempts', '\x0182a5706c61696e82a5636f756e7401a7756e74696c4d73cb427a201793a3b000a76361707463686182a5636f756e7400a7756e74696c4d7300');
INSERT INTO slice (kind, id, slice, data)
  VALUES ('user', 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'profile', '\x0186a57374617465a6616374697665a5656d61696caf616461406578616d706c652e6f7267a9776f726b7370616365a764656661756c74af70726f746f636f6c56657273696f6ea3303034b263726564656e7469616c7356657273696f6e01ab6372656174656441744d73cb427a201424b43000');
INSERT INTO slice (kind, id, slice, data)
  VALUES ('user', 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'session:affedce0-8951-491c-9c14-ff18b69aeb6f', '\x01de0010a475756964d92461666665646365302d383935312d343931632d396331342d666631386236396165623666b1707269766174654964656e746966696572d9203165626233363036623435366561633966396535366438393366383831386531a763757272656e7483a57374796c6501aa61636365737348617368d94030323363636266666163383930633037366166666432313331643238633664303865336266666331613335613965653861393038646333663837343063636265ab7265667265736848617368d94034396635613232356464326461353333323662323061613331336438363937383032636262636237643835623365356664666439663538373866636266323737a87265706c6163656490b16163636573734578706972657341744d73cb427a3363fdb43000b2726566726573684578706972657341744d73cb427a95a32c573000ab6b657074556e74696c4d73cb427a95a32c573000a9657068656d6572616cc2a8726561646f6e6c79c2aa61706956657273696f6ea83230323030313135a9697041646472657373a93132372e302e302e31a9757365724167656e74a46e6f6465ab736e6a7356657273696f6ec0b26170706c69636174696f6e56657273696f6ec0ab6372656174656441744d73cb427a201424b43000ab7570646174656441744d73cb427a201424b43000');
INSERT INTO slice (kind, id, slice, data)
  VALUES ('user', 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'items', '\x0184a8706f736974696f6e05af7570646174656441744d6963726f73cb43198353abdde280a56974656d7304a973697a654279746573ce00092f7a');
INSERT INTO timer (kind, id, name, shard, due_at, payload, attempts, dead)
  VALUES ('signin', 'cb8bca7008b15ba95e2c4742ba5067bd1cd98be8bb63d3bc202e6b06934e950a', 'expire', 1, 1795321051741, '\x01c0', 0, false);
INSERT INTO timer (kind, id, name, shard, due_at, payload, attempts, dead)
  VALUES ('signin', 'f4c47753b43963b3dc15ece5d718605c56f892beb2582fbbb36df62ebb99b607', 'expire', 3, 1795321051707, '\x01c0', 0, false);
INSERT INTO outbox (target_kind, target_id, tell_id, target_shard, name, payload, sender_kind, sender_id, sender_version, attempts, retry_at, dead)
  VALUES ('user', 'f967d8d7-efe0-4e79-b1e6-c894f2488462', '0d5a4e44-1b9c-4c7e-9d7c-0c5f1b6b7a01', 3, 'nothing', '\x01c0', 'user', '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11', 7, 10, 1795317451600, true);
INSERT INTO call (kind, id, call_key, shard, reply, at)
  VALUES ('signin', 'f4c47753b43963b3dc15ece5d718605c56f892beb2582fbbb36df62ebb99b607', 'W0OvNAnIiQO6jU6q1uf40J1zEncz1BDr3NrgmLKQkV8', 3, '\x9699fae05efd4c4b7425a1ffe9eaa462bc16f2f60da6eac3f1f0311ddaf69ac3b07bd93db69d9016c374d2bb86a1f1cae608fde5f0b49b3ebd8c4a9e67', 1795317451707);
INSERT INTO call (kind, id, call_key, shard, reply, at)
  VALUES ('user', 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'KNUgnCmQWR7K92-ZPq_UoV63drYfzjdrBd9JmQTjE0E', 3, '\x8b2ca8614be19c27e6b123bef3137b4b9e67962016b63b20948c9c62fbcab0c068947c786cf4526395cda508521d003165324d60b17677c4a7dffe578e7c469a6a9371eac09c2bfb2e62b685e2f074c9648841f5976ec09b1927c9a6dab401131f148029bb162c857683a07a6cb3b7f3e25e44a2def769d95f492a5d9e851b7a249ae782e2e296a343d16abc1e4bebf99c227e75894a705b19c149c61d32f347658444d8aa1b346953c06a3eaf7972c52d1bdb401beabceddf196460dcd37cf477b390113188218852c694ce4d18a8581dd504ad7fecfe58fbfe9b3efa77a7a2fb6291ee327f0e6665ee2f80ac1b135875f6257c851b9f37b09fd83124c36bfd21799ee48a03c815e559141eb9c30e549be28e9cc8e9e4e14ae3ada456db69597d06721ac013f9ab039653ee4ef9b6a986c5f919b00e4f170cb37f59f65b7ee9060c57f8452e285fc40466f5afbecea60eb6cde4ff9b293e47ccd1f71dc130edae4bf5ecbda89ce328603371b57103b1b2a601245fb50a73672dcc227c40d156c1e259cfcd5802fa90f8a6bf64664e19d4ca49a2ecef9aea6f3d81f326efb53dc1f1fd3d929201d79bc5c4932685d3d0a28963e1d38e0596e8632dc071a35017e17fe3ffff32511e4ce2b0fae6cdfbbe80c0fe111dbae82c0470885253c2eb7fc8d79e798227661cd16d7ad590a70c7f5f25f1ddfa09924f88fea388173d9c745ecb7bfb21392940ad2992b6d8ea4b96daffa4d8d3666e7bfa587416b3d3c9faeaf8ac35e2afb714f07f14df82a5b9915805fe1d04c29ec46f88629a8d0c20056760205f479241502c7769a5c71ba1f3f57a23fca4136441b76dbc03150d641cf6b2256521d96b30a0c20d31831717a1ef31c80baf315227a909c568259d8251ee254c04bc1950171b5524f6523a8c3be7d603cf16417e51b8e55c8d142ba6e8af5feb560601d052881561b16033c4ba6c334a7afc80a81adf045b316a12f4cda430e555eae595e7d73d6ee4840ecf091000b365ac0656576b15f009fb482ad987b4502d9cb580e53db5f8a38e86128317411c015de835a56ea34dde7245af84d402c8f3601ee04ecb12094c8188a86361bb203d88f9cb3fb0ec2818385a5ad35db30f71e5d25e17e9da12ecb0318e99f4f18b42b3593c3bb1', 1795317451587);
INSERT INTO account (user_uuid, workspace, identifier, password_hash, credentials_version, key_params)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', 'default', 'ada@example.org', '$argon2id$v=19$m=19456,t=2,p=1$edyv0V1RjY5ZIiCKl2zgoQ$aW4sURSMha3eKR3awQRTfiRbS94lM2Tv3FisPVr3bDk', 1, '{"pw_nonce":"nonce","version":"004","created":"1795317451587"}');
INSERT INTO item (collection, uuid, position, created_position, size, owner_uuid, content_type, content, enc_item_key, items_key_id, auth_hash, duplicate_of, deleted, created_at_timestamp, updated_at_timestamp, key_system_identifier, shared_vault_uuid, last_edited_by_uuid, updated_with_session, fingerprint, content_parts)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000001', 1, 1, 662, 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'Note', 'a note', '004:enc-item-key', '11111111-2222-4333-8444-555555555555', NULL, NULL, false, 1767225600000000, 1795317451649000, NULL, NULL, NULL, 'affedce0-8951-491c-9c14-ff18b69aeb6f', '\xd8b722d7546729977aab4f494f944e06661147cddce65eb8c527585ec26ca7ed', 0);
INSERT INTO item (collection, uuid, position, created_position, size, owner_uuid, content_type, content, enc_item_key, items_key_id, auth_hash, duplicate_of, deleted, created_at_timestamp, updated_at_timestamp, key_system_identifier, shared_vault_uuid, last_edited_by_uuid, updated_with_session, fingerprint, content_parts)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000002', 5, 2, 0, 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'Note', NULL, NULL, NULL, NULL, NULL, true, 1767225600000000, 1795317451684000, NULL, NULL, NULL, 'affedce0-8951-491c-9c14-ff18b69aeb6f', '\x8d1b02c4daa948435bc6ee8784872b853d53ce1d3f6802f7130c0e3ac5568ccc', 0);
INSERT INTO item (collection, uuid, position, created_position, size, owner_uuid, content_type, content, enc_item_key, items_key_id, auth_hash, duplicate_of, deleted, created_at_timestamp, updated_at_timestamp, key_system_identifier, shared_vault_uuid, last_edited_by_uuid, updated_with_session, fingerprint, content_parts)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000003', 3, 3, 600656, 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'Note', NULL, '004:enc-item-key', '11111111-2222-4333-8444-555555555555', NULL, NULL, false, 1767225600000000, 1795317451649002, NULL, NULL, NULL, 'affedce0-8951-491c-9c14-ff18b69aeb6f', '\x2a33c51ba7bf263687211b764aa0a6f443ba3d96a6e1b1894364f0fb4597ef39', 4);
INSERT INTO item (collection, uuid, position, created_position, size, owner_uuid, content_type, content, enc_item_key, items_key_id, auth_hash, duplicate_of, deleted, created_at_timestamp, updated_at_timestamp, key_system_identifier, shared_vault_uuid, last_edited_by_uuid, updated_with_session, fingerprint, content_parts)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000004', 4, 4, 660, 'f967d8d7-efe0-4e79-b1e6-c894f2488462', 'SN|ItemsKey', 'keys', '004:enc-item-key', '11111111-2222-4333-8444-555555555555', NULL, NULL, false, 1767225600000000, 1795317451649003, NULL, NULL, NULL, 'affedce0-8951-491c-9c14-ff18b69aeb6f', '\x8489bc59594aaa0759667169c75bc426606042db99c5b117db90da3f575e3bcd', 0);
INSERT INTO item_part (collection, uuid, part, content)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000003', 0, repeat('large ', 29127));
INSERT INTO item_part (collection, uuid, part, content)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000003', 1, repeat('large ', 29127));
INSERT INTO item_part (collection, uuid, part, content)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000003', 2, repeat('large ', 29127));
INSERT INTO item_part (collection, uuid, part, content)
  VALUES ('f967d8d7-efe0-4e79-b1e6-c894f2488462', '00000000-0000-4000-8000-000000000003', 3, repeat('large ', 12619));
