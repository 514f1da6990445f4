-- The journal. (xid, pos) orders events so that a reader below the oldest running
-- transaction misses none: a serial number alone is given out before it is committed.
create table events (
    xid     xid8    not null default pg_current_xact_id(),
    pos     bigint  not null generated always as identity,
    stream  text    not null,
    seq     bigint  not null,
    kind    text    not null,
    at      bigint  not null,           -- microseconds since 1970, UTC
    actor   text    not null,           -- person:anna, agent:support, clock:clock
    payload text,                       -- null once erased
    salt    bytea,                      -- null once erased
    digest  bytea   not null,           -- of salt and payload; stays when they are erased
    hash    bytea   not null,           -- of the event before, this header and the digest
    primary key (xid, pos),
    unique (stream, seq)
);

-- What was decided before, for full-text search.
create table cases (
    pos     bigint  not null generated always as identity primary key,
    id      text    not null unique,    -- the ask
    kind    text    not null,
    tool    text,
    agent   text    not null,
    team    text    not null default '',
    verdict text    not null,
    at      bigint  not null,           -- of the decision, microseconds since 1970
    about   text    not null,           -- words of what was proposed, or of the task
    said    text    not null,           -- words of what was said to it, and of what came of it
    words   tsvector not null generated always as
            (array_to_tsvector(string_to_array(btrim(about || ' ' || said), ' '))) stored
);
create index cases_words on cases using gin (words);

-- Every ask for full-text search, open or closed.
create table texts (
    pos     bigint not null generated always as identity primary key,
    id      text   not null unique,     -- the ask
    state   text   not null,            -- open, closed
    words   text   not null,
    lexemes tsvector not null generated always as
            (array_to_tsvector(array_append(string_to_array(words, ' '), '=' || state))) stored
);
create index texts_lexemes on texts using gin (lexemes);

-- Which journal this is. A backup is the same journal as it was: whoever goes on from it begins a
-- new epoch, and cursors of the one before count no more.
create table desk (
    epoch bigint not null,
    home  bigint not null               -- the table of events here; in a database that was restored, another
);
insert into desk values (0, cast(cast(cast('events' as regclass) as oid) as bigint));
