-- The journal by who did what: an index made from it. Each walk goes along one index, from a place
-- (at, n) into the past.

-- name: change_trail
-- Once an ask is erased, the index says no more of it than its journal does.
update trail set actor = :actor, sort = :sort, tool = :tool, verdict = :verdict
 where team = :team and stream = :stream and seq = :seq

-- name: drop_trail
delete from trail

-- name: trail_teams
with recursive met (team) as (
    select min(team) from trail
    union all
    select (select min(t.team) from trail t where t.team > met.team) from met where met.team is not null
)
select team from met where team is not null

-- name: trail_behind
   and (at, n) < (cast(:at as bigint), cast(:n as bigint)) and at >= cast(:since as bigint)
 order by at desc, n desc

-- name: trail_shown
select n, team, at, stream, seq, kind, sort, actor, tool, verdict

-- name: trail_all
{@trail_shown} from trail where team = :team {@trail_behind} limit :limit

-- name: trail_stream
{@trail_shown} from trail where team = :team and stream = :value {@trail_behind} limit :limit

-- name: trail_kind
{@trail_shown} from trail where team = :team and kind = :value {@trail_behind} limit :limit

-- name: trail_sort
{@trail_shown} from trail where team = :team and sort = :value {@trail_behind} limit :limit

-- name: trail_actor
{@trail_shown} from trail where team = :team and actor = :value {@trail_behind} limit :limit

-- name: trail_tool
{@trail_shown} from trail where team = :team and tool = :value and tool <> '' {@trail_behind} limit :limit

-- name: trail_verdict
{@trail_shown} from trail where team = :team and verdict = :value and verdict <> '' {@trail_behind} limit :limit

-- How far back so many lie: whoever looks by several things at once walks along the rarest.

-- name: trail_far_stream
select at from trail where team = :team and stream = :value {@trail_behind} limit 1 offset :limit

-- name: trail_far_kind
select at from trail where team = :team and kind = :value {@trail_behind} limit 1 offset :limit

-- name: trail_far_sort
select at from trail where team = :team and sort = :value {@trail_behind} limit 1 offset :limit

-- name: trail_far_actor
select at from trail where team = :team and actor = :value {@trail_behind} limit 1 offset :limit

-- name: trail_far_tool
select at from trail where team = :team and tool = :value and tool <> '' {@trail_behind} limit 1 offset :limit

-- name: trail_far_verdict
select at from trail where team = :team and verdict = :value and verdict <> '' {@trail_behind} limit 1 offset :limit
