-- Ranks have room between the words for tiers of one's own: 100, 200, 300 and 400, from 1000 on for
-- what is for information. The tier by its own name is counted with the rank; a word has its rank.
alter table asks add column tier text;
update asks set rank = (rank % 4 + 1) * 100 + (rank / 4) * 1000;
drop index asks_open;
create index asks_open on asks (rank, latest, opened_at, id, kind, tier) where status = 'open';
