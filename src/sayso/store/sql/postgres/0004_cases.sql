-- What was decided before, for full-text search. All of it comes from the journal: whoever asks
-- first reads on from where the last reader stopped. Dropped, it is made again.
create table cases (
    pos     bigint  not null generated always as identity primary key,
    id      text    not null unique,    -- the ask
    kind    text    not null,
    tool    text,
    agent   text    not null,
    verdict text    not null,
    at      bigint  not null,           -- of the decision, microseconds since 1970
    about   text    not null,           -- words of what was proposed, or of the task
    said    text    not null,           -- words of what was said to it, and of what came of it
    words   tsvector not null generated always as
            (array_to_tsvector(string_to_array(btrim(about || ' ' || said), ' '))) stored
);

create index cases_at on cases (at, id);
create index cases_of_tool on cases (tool, at);
create index cases_of_agent on cases (agent, at);
create index cases_words on cases using gin (words);

-- How far readers of the journal have come.
create table readers (
    name   text not null primary key,
    cursor text not null
);
