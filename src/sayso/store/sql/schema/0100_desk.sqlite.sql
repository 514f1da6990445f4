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

-- What was decided before, for full-text search.
create table cases (
    pos     integer primary key,
    id      text    not null unique,    -- the ask
    kind    text    not null,
    tool    text,
    agent   text    not null,
    team    text    not null default '',
    verdict text    not null,
    at      integer not null,           -- of the decision, microseconds since 1970
    about   text    not null,           -- words of what was proposed, or of the task
    said    text    not null            -- words of what was said to it, and of what came of it
) strict;

create virtual table case_words using fts5 (
    about, said, content = 'cases', content_rowid = 'pos', tokenize = 'ascii'
);
create virtual table case_counts using fts5vocab ('case_words', 'row');

create trigger cases_put after insert on cases begin
    insert into case_words (rowid, about, said) values (new.pos, new.about, new.said);
end;
create trigger cases_change after update of about, said on cases begin
    insert into case_words (case_words, rowid, about, said)
    values ('delete', old.pos, old.about, old.said);
    insert into case_words (rowid, about, said) values (new.pos, new.about, new.said);
end;
create trigger cases_drop after delete on cases begin
    insert into case_words (case_words, rowid, about, said)
    values ('delete', old.pos, old.about, old.said);
end;

-- Every ask for full-text search, open or closed.
create table texts (
    pos   integer primary key,
    id    text    not null unique,      -- the ask
    state text    not null,             -- open, closed
    words text    not null
) strict;

create virtual table text_words using fts5 (
    state, words, content = 'texts', content_rowid = 'pos', tokenize = 'ascii'
);

create trigger texts_put after insert on texts begin
    insert into text_words (rowid, state, words) values (new.pos, new.state, new.words);
end;
create trigger texts_change after update on texts begin
    insert into text_words (text_words, rowid, state, words)
    values ('delete', old.pos, old.state, old.words);
    insert into text_words (rowid, state, words) values (new.pos, new.state, new.words);
end;
create trigger texts_drop after delete on texts begin
    insert into text_words (text_words, rowid, state, words)
    values ('delete', old.pos, old.state, old.words);
end;

-- Which journal this is. A backup is the same journal as it was: whoever goes on from it begins a
-- new epoch, and cursors of the one before count no more.
create table desk (
    epoch     integer not null,
    copied_at integer                   -- of a backup: when it was taken; it may not be used as it is
) strict;
insert into desk values (0, null);
