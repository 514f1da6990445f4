-- What was decided before, for full-text search. All of it comes from the journal: whoever asks
-- first reads on from where the last reader stopped. Dropped, it is made again.
create table cases (
    pos     integer primary key,
    id      text    not null unique,    -- the ask
    kind    text    not null,
    tool    text,
    agent   text    not null,
    verdict text    not null,
    at      integer not null,           -- of the decision, microseconds since 1970
    about   text    not null,           -- words of what was proposed, or of the task
    said    text    not null            -- words of what was said to it, and of what came of it
) strict;

create index cases_at on cases (at, id);
create index cases_of_tool on cases (tool, at);
create index cases_of_agent on cases (agent, at);

create virtual table case_words using fts5 (
    about, said, content = 'cases', content_rowid = 'pos', tokenize = 'ascii'
);
create virtual table case_counts using fts5vocab ('case_words', 'row');

create trigger cases_put after insert on cases begin
    insert into case_words (rowid, about, said) values (new.pos, new.about, new.said);
end;
create trigger cases_drop after delete on cases begin
    insert into case_words (case_words, rowid, about, said)
    values ('delete', old.pos, old.about, old.said);
end;
create trigger cases_change after update on cases begin
    insert into case_words (case_words, rowid, about, said)
    values ('delete', old.pos, old.about, old.said);
    insert into case_words (rowid, about, said) values (new.pos, new.about, new.said);
end;

-- How far readers of the journal have come.
create table readers (
    name   text not null primary key,
    cursor text not null
) strict;
