-- What was decided before: an index made from the journal. {shared} keeps an erasure waiting that
-- comes while a case is written.

-- name: put_case
-- Nothing is put back that was erased since it was read.
insert into cases (id, kind, tool, agent, team, verdict, at, about, said)
select :id, :kind, :tool, :agent, coalesce((select a.team from asks a where a.id = :id), ''), :verdict, :at, :about, :said
  from events e
 where e.stream = :id and e.seq = 1 and e.payload is not null {shared}
on conflict (id) do update
   set kind = excluded.kind, tool = excluded.tool, agent = excluded.agent,
       verdict = excluded.verdict, at = excluded.at, about = excluded.about, said = excluded.said

-- name: drop_case
delete from cases where id = :id

-- name: drop_cases
delete from cases

-- name: case_columns
cases.id, cases.kind, cases.tool, cases.agent, cases.verdict, cases.at, cases.about, cases.said

-- name: case_filter
      (cast(:tool as text) is null or cases.tool = cast(:tool as text))
  and (cast(:kind as text) is null or cases.kind = cast(:kind as text))
  and (cast(:agent as text) is null or cases.agent = cast(:agent as text))
  and (cast(:verdicts as text) is null or cast(:verdicts as text) <> replace(cast(:verdicts as text), '|' || cases.verdict || '|', ''))
  and (cast(:team as text) is null or cases.team = cast(:team as text))
  and (cast(:teams as text) is null or cast(:teams as text) <> replace(cast(:teams as text), '|' || cases.team || '|', ''))

-- name: cases
select {@case_columns}
  from cases
 where {@case_filter}
   and (cast(:at as bigint) is null
        or (cases.at, cases.id) < (cast(:at as bigint), cast(:last as text)))
 order by cases.at desc, cases.id desc limit :limit

-- name: count_cases
select count(*) from (select 1 from cases where {@case_filter} limit :limit) counted

-- What was decided of one agent, the newest first: of one tool, or of one kind without a tool; of the
-- agent of one team, or of all its namesakes. An index has each in this order.

-- name: record_of_tool
{@record_from} and tool = :tool {@record_newest}

-- name: record_of_kind
{@record_from} and tool is null and kind = :kind {@record_newest}

-- name: record_of_tool_in_team
{@record_from} and team = :team and tool = :tool {@record_newest}

-- name: record_of_kind_in_team
{@record_from} and team = :team and tool is null and kind = :kind {@record_newest}

-- name: record_of_everybody
select at, id, verdict from cases where tool = :tool {@record_newest}

-- name: record_of_everybody_in_team
select at, id, verdict from cases where tool = :tool and team = :team {@record_newest}

-- name: record_from
select at, id, verdict from cases where agent = :agent

-- name: record_newest
order by at desc, id desc limit :limit

-- Every ask by its words, open or closed: another index made from the journal, like the one of cases.

-- name: put_text
insert into texts (id, state, words)
select :id, :state, :words
  from events e
 where e.stream = :id and e.seq = 1 and e.payload is not null {shared}
on conflict (id) do update set state = excluded.state, words = excluded.words

-- name: drop_text
delete from texts where id = :id

-- name: drop_texts
delete from texts
