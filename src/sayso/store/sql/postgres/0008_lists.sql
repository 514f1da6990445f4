-- In which order people see what waits, what has been decided, and the words both are found by.
alter table asks add column tool text;              -- what is to be called; null once erased
alter table asks add column closed_at bigint;        -- when it was decided or withdrawn

-- A payload that was damaged says nothing, and stops nobody else. A text may hold a NUL, which
-- PostgreSQL does not read in JSON.
create function sayso_said(payload text, variadic path text[]) returns text language plpgsql as $$
begin
    return cast(regexp_replace(payload, '(?<!\\)((?:\\\\)*)\\u0000', '\1', 'g') as json) #>> path;
exception when data_exception or program_limit_exceeded then
    return null;
end $$;

update asks set tool = (select sayso_said(e.payload, 'content', 'proposal', 'tool') from events e where e.stream = asks.stream and e.seq = 1),
                closed_at = (select max(e.at) from events e where e.stream = asks.stream
                                and e.kind in ('ask.decided', 'ask.withdrawn'));

-- What is for information comes after everything that people must decide.
update asks set rank = rank + 4
 where kind in ('notice', 'feedback')
    or kind = 'draft' and exists (select 1 from events e where e.stream = asks.stream and e.seq = 1
                                     and sayso_said(e.payload, 'content', 'optional') = 'true');

drop function sayso_said;

-- A list costs what is on the page, whatever else there is: for those whom no wall keeps out, and
-- for each team.
drop index asks_open;
drop index asks_open_of_team;
create index asks_open on asks (rank, latest, opened_at, id) where status = 'open';
create index asks_open_of_team on asks (team, rank, latest, opened_at, id) where status = 'open';
create index asks_closed on asks (closed_at, id) where closed_at is not null and agent is not null;
create index asks_closed_of_team on asks (team, closed_at, id)
    where closed_at is not null and agent is not null;

alter table cases add column team text not null default '';
update cases set team = a.team from asks a where a.id = cases.id and a.team <> '';

-- What was decided of one agent's calls of one tool, the newest first; and of the agent of one team,
-- for a namesake in another team is another agent.
create index cases_of_call on cases (agent, tool, at, id);
create index cases_of_kind on cases (agent, kind, at, id) where tool is null;
create index cases_of_call_in_team on cases (agent, team, tool, at, id);
create index cases_of_kind_in_team on cases (agent, team, kind, at, id) where tool is null;

-- Every ask for full-text search, open or closed. All of it comes from the journal, like `cases`.
create table texts (
    pos     bigint not null generated always as identity primary key,
    id      text   not null unique,     -- the ask
    state   text   not null,            -- open, closed
    words   text   not null,
    lexemes tsvector not null generated always as
            (array_to_tsvector(array_append(string_to_array(words, ' '), '=' || state))) stored
);

create index texts_lexemes on texts using gin (lexemes);
