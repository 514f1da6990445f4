-- What was decided before: an index made from the journal.

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
