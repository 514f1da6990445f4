-- The journal by who did what: an index made from it. Each walk goes along one index, from a place
-- (at, n) into the past.

-- name: trail_teams
with recursive met (team) as (
    select min(team) from trail
    union all
    select (select min(t.team) from trail t where t.team > met.team) from met where met.team is not null
)
select team from met where team is not null

-- name: trail_shown
select n, team, at, stream, seq, kind, sort, actor, tool, verdict

-- name: trail_stretch
   and (at, n) < (cast(:at as bigint), cast(:n as bigint))
   and (at, n) >= (cast(:to_at as bigint), cast(:to_n as bigint))

-- Several walks are one: where it says {walks} stands one for each of them, and the databases go along
-- all of them at once. What else is wanted is picked out on the way, and said so that no database goes
-- along another index for it, which may be far longer.

-- name: trail_met
{@trail_shown} from ({walks}) t
 where t.stream = coalesce(cast(:stream as text), t.stream)
   and t.sort = coalesce(cast(:sort as text), t.sort)
   and t.tool = coalesce(cast(:tool as text), t.tool)
   and t.verdict = coalesce(cast(:verdict as text), t.verdict)
   and {of_actors} and {of_kinds}
 order by at desc, n desc limit :limit

-- name: trail_met_all
{walk_begins}{@trail_shown} from trail where team = :team {@trail_stretch}{walk_ends}

-- name: trail_met_stream
{walk_begins}{@trail_shown} from trail where team = :team and stream = :value {@trail_stretch}{walk_ends}

-- name: trail_met_kind
{walk_begins}{@trail_shown} from trail where team = :team and kind = :value {@trail_stretch}{walk_ends}

-- name: trail_met_sort
{walk_begins}{@trail_shown} from trail where team = :team and sort = :value {@trail_stretch}{walk_ends}

-- name: trail_met_actor
{walk_begins}{@trail_shown} from trail where team = :team and actor = :value {@trail_stretch}{walk_ends}

-- name: trail_met_tool
{walk_begins}{@trail_shown} from trail where team = :team and tool = :value and tool <> '' {@trail_stretch}{walk_ends}

-- name: trail_met_verdict
{walk_begins}{@trail_shown} from trail where team = :team and verdict = :value and verdict <> '' {@trail_stretch}{walk_ends}

-- Where the steps are: whoever looks by several things at once walks along the rarest.

-- name: trail_spots
select at, n from ({walks}) s order by at desc, n desc limit :limit offset :passed

-- name: trail_spots_all
{walk_begins}select at, n from trail where team = :team {@trail_stretch}{walk_ends}

-- name: trail_spots_stream
{walk_begins}select at, n from trail where team = :team and stream = :value {@trail_stretch}{walk_ends}

-- name: trail_spots_kind
{walk_begins}select at, n from trail where team = :team and kind = :value {@trail_stretch}{walk_ends}

-- name: trail_spots_sort
{walk_begins}select at, n from trail where team = :team and sort = :value {@trail_stretch}{walk_ends}

-- name: trail_spots_actor
{walk_begins}select at, n from trail where team = :team and actor = :value {@trail_stretch}{walk_ends}

-- name: trail_spots_tool
{walk_begins}select at, n from trail where team = :team and tool = :value and tool <> '' {@trail_stretch}{walk_ends}

-- name: trail_spots_verdict
{walk_begins}select at, n from trail where team = :team and verdict = :value and verdict <> '' {@trail_stretch}{walk_ends}
