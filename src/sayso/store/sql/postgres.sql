-- name: tail
select e.xid, e.pos, e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from events e
 where (e.xid, e.pos) > (cast(:xid as xid8), cast(:pos as bigint))
   and e.xid < pg_snapshot_xmin(pg_current_snapshot())
 order by e.xid, e.pos limit :limit

-- name: tip
select pg_snapshot_xmin(pg_current_snapshot())

-- name: indexed
select id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, next_at, latest, agent, assignee, effect, team
  from asks where id = any(:ids)

-- name: ahead
select cast(:xid as xid8) > pg_snapshot_xmax(pg_current_snapshot())

-- name: restored
-- A dump carries the transaction numbers of another server; the tail would wait for ours to pass them.
select coalesce((select max(xid) from events) > pg_snapshot_xmax(pg_current_snapshot()), false)

-- name: renumber
-- A webhook goes on behind the last event it has passed; one that a transaction still held back
-- then comes again.
update webhooks w set cursor = '1.' || coalesce(
    (select min(e.pos) - 1 from events e
      where (e.xid, e.pos) > (cast(split_part(w.cursor, '.', 1) as xid8),
                              cast(split_part(w.cursor, '.', 2) as bigint))),
    (select max(e.pos) from events e), 0);
update events set xid = '1'; delete from readers

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by xid desc, pos desc limit :limit

-- name: beginnings
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream = any(:ids) and seq <= 2
 order by stream, seq

-- name: inbox_of_teams
-- What belongs to no team, and what is open in each of these: of each as much as could be shown.
{@inbox_wanted},
counted as (
    select count(*) as n from (
        (select 1 from wanted where team = ''
          order by rank, latest, opened_at, id limit :count_limit + 1)
        union all
        select 1 from unnest(cast(:teams as text[])) t
         cross join lateral (
            select 1 from wanted w where w.team = t and w.team <> ''
             order by w.rank, w.latest, w.opened_at, w.id limit :count_limit + 1
        ) mine
        limit :count_limit + 1
    ) c
),
page as (
    (select * from wanted
      where team = '' and (rank, latest, opened_at, id) > (:rank, :latest, :opened_at, :id)
      order by rank, latest, opened_at, id limit :limit)
    union all
    select mine.* from unnest(cast(:teams as text[])) t
     cross join lateral (
        select * from wanted w
         where w.team = t and w.team <> ''
           and (w.rank, w.latest, w.opened_at, w.id) > (:rank, :latest, :opened_at, :id)
         order by w.rank, w.latest, w.opened_at, w.id limit :limit
    ) mine
     order by rank, latest, opened_at, id limit :limit
)
{@inbox_shown}
