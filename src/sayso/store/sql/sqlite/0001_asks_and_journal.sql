-- The journal. `pos` is the rowid; writers take turns, so its order is the order of commits.
create table events (
    pos     integer primary key,
    stream  text    not null,
    seq     integer not null,
    kind    text    not null,
    at      integer not null,           -- microseconds since 1970, UTC
    actor   text    not null,           -- person:anna, agent:support, clock:clock
    payload text,                       -- null once erased
    salt    blob,                       -- null once erased
    digest  blob    not null,           -- of salt and payload; stays when they are erased
    hash    blob    not null,           -- of the event before, this header and the digest
    unique (stream, seq)
) strict;

-- An index of asks for lists and due times. What an ask is comes from its journal.
create table asks (
    id          text    not null primary key,
    stream      text    not null,
    kind        text    not null,
    status      text    not null,
    rank        integer not null,
    risk        text,
    run         text,
    thread      text,
    key         text,                   -- idempotency key of the opening
    roles       text    not null,       -- |senior|security|
    voters      text    not null,       -- |anna|: who voted on the version shown now
    version     integer not null,
    opened_at   integer not null,
    due_at      integer,
    effect      text,
    holder      text,                   -- whoever waits for it or carries it out; null when that is over
    lease_until integer
) strict;

create unique index asks_key on asks (key) where key is not null;
create index asks_open on asks (rank, opened_at, id) where status = 'open';
create index asks_due on asks (due_at) where status = 'open' and due_at is not null;
create index asks_held on asks (holder) where holder is not null;
create index asks_lapsing on asks (lease_until) where effect = 'intended';

create table people (
    name   text    not null primary key,
    roles  text    not null,            -- ["senior"]
    active integer not null
) strict;
