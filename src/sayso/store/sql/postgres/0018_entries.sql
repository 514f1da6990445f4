-- What people come in by, listed by the page and counted by person: each costs what is shown of it.
create index tokens_made on tokens (made_at, id);
create index tokens_of on tokens (name);
create index tokens_owned on tokens (owner) where owner is not null;
create index sessions_used on sessions (seen_at, id);
create index identities_of on identities (person);
