-- In which order people see what waits, what has been decided, and the words both are found by.
alter table asks add column tool text;              -- what is to be called; null once erased
alter table asks add column closed_at integer;        -- when it was decided or withdrawn

-- A payload that was damaged says nothing, and stops nobody else.
update asks set tool = (select case when json_valid(e.payload) then json_extract(e.payload, '$.content.proposal.tool') end
                          from events e where e.stream = asks.stream and e.seq = 1),
                closed_at = (select max(e.at) from events e where e.stream = asks.stream
                                and e.kind in ('ask.decided', 'ask.withdrawn'));

-- What is for information comes after everything that people must decide.
update asks set rank = rank + 4
 where kind in ('notice', 'feedback')
    or kind = 'draft' and exists (select 1 from events e where e.stream = asks.stream and e.seq = 1
                                     and case when json_valid(e.payload) then json_extract(e.payload, '$.content.optional') end = 1);

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
-- The words stay as they were, so their index is not written again.
drop trigger cases_change;
update cases set team = coalesce((select a.team from asks a where a.id = cases.id), '');
create trigger cases_change after update of about, said on cases begin
    insert into case_words (case_words, rowid, about, said)
    values ('delete', old.pos, old.about, old.said);
    insert into case_words (rowid, about, said) values (new.pos, new.about, new.said);
end;

-- What was decided of one agent's calls of one tool, the newest first; and of the agent of one team,
-- for a namesake in another team is another agent.
create index cases_of_call on cases (agent, tool, at, id);
create index cases_of_kind on cases (agent, kind, at, id) where tool is null;
create index cases_of_call_in_team on cases (agent, team, tool, at, id);
create index cases_of_kind_in_team on cases (agent, team, kind, at, id) where tool is null;

-- Every ask for full-text search, open or closed. All of it comes from the journal, like `cases`.
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
create trigger texts_drop after delete on texts begin
    insert into text_words (text_words, rowid, state, words)
    values ('delete', old.pos, old.state, old.words);
end;
create trigger texts_change after update on texts begin
    insert into text_words (text_words, rowid, state, words)
    values ('delete', old.pos, old.state, old.words);
    insert into text_words (rowid, state, words) values (new.pos, new.state, new.words);
end;
