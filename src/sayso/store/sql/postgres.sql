-- name: tail
select (select epoch from desk), e.xid, e.pos, e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from events e
 where (e.xid, e.pos) > (cast(:xid as xid8), cast(:pos as bigint))
   and coalesce(cast(:epoch as bigint) = (select epoch from desk), true)
   and e.xid < pg_snapshot_xmin(pg_current_snapshot())
 order by e.xid, e.pos limit :limit

-- name: flushed
-- Its commit, which is that of the statement it stands in, takes everything to the disk that others
-- committed unsynced before.
pg_logical_emit_message(true, 'sayso', cast('' as text))

-- name: tail_lasting
-- After a crash the server gives the numbers of lost transactions out again, so whoever had seen an
-- event of one would take new events for older ones. Nothing is handed out that a crash can take.
with found as materialized ({@tail}),
     synced as materialized (
       select {@flushed} where exists (select 1 from found) and pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn())
select * from found where (select count(*) from synced) >= 0 order by xid, pos

-- name: tip
select epoch, pg_snapshot_xmin(pg_current_snapshot()), {@flushed} from desk

-- name: indexed
select id, stream, kind, status, rank, tier, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, next_at, latest, agent, assignee, effect, team, tool,
       closed_at
  from asks where id = any(:ids)

-- name: ahead
select cast(:epoch as bigint) <> epoch or cast(:xid as xid8) > pg_snapshot_xmax(pg_current_snapshot())
  from desk

-- name: restored
-- Whoever restores a dump makes the tables anew. Or it carries the transaction numbers of another server.
select home <> cast(cast(cast('events' as regclass) as oid) as bigint) or ({@numbered_ahead}) from desk

-- name: numbered_ahead
-- The tail would wait for our numbers to pass them.
select coalesce((select max(xid) from events) > pg_snapshot_xmax(pg_current_snapshot()), false)

-- name: next_epoch
update desk set epoch = epoch + 1, home = 0

-- name: at_home
update desk set home = cast(cast(cast('events' as regclass) as oid) as bigint)

-- name: renumber_webhooks
-- A webhook goes on behind the last event it has passed; one that a transaction still held back
-- then comes again.
update webhooks w set cursor = '1.' || coalesce(
    (select min(e.pos) - 1 from events e
      where (e.xid, e.pos) > (cast(split_part({behind_colon}, '.', 1) as xid8),
                              cast(split_part({behind_colon}, '.', 2) as bigint))),
    (select max(e.pos) from events e), 0)

-- name: renumber
update events set xid = '1'

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by xid desc, pos desc limit :limit

-- name: beginnings
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream = any(:ids) and seq <= 2
 order by stream, seq

-- name: inbox_of_teams
-- The same in each team, and in what belongs to none: of each as much as could be shown.
{@inbox_spans},
tally (step, n) as (
    select cast(0 as bigint), cast(0 as bigint)
    union all
    select s.step, t.n + (
            select count(*) from (
                select 1 from unnest(cast(:teams as text[])) m (team)
                 cross join lateral (
                    select 1 from wanted w
                     where w.team = m.team
                       and w.rank = s.rank and w.latest > s.above and w.latest <= s.upto
                     limit :count_limit + 1
                ) theirs
                 limit :count_limit + 1
            ) c)
      from tally t join spans s on s.step = t.step + 1
     where t.n <= :count_limit
),
walk (step, place, found, ids) as (
    select (select count(*) from spans s where s.place < :place), 0, 0, {none}
    union all
    select s.step, s.place, f.found + {as_many}, (
            select {gathered} from (
                select theirs.id from unnest(cast(:teams as text[])) m (team)
                 cross join lateral (
                    select w.id, w.latest, w.opened_at from wanted w
                     where w.team = m.team and w.rank = s.rank and w.latest <= s.upto
                       and (w.latest, w.opened_at, w.id) > (s.latest, s.opened_at, s.id)
                     order by w.latest, w.opened_at, w.id limit :limit
                ) theirs
                 order by theirs.latest, theirs.opened_at, theirs.id limit :limit
            ) g)
      from walk f join spans s on s.step = f.step + 1
     where f.found + {as_many} < :limit
),
{@inbox_page}

-- name: closed_of_teams
{@closed_wanted},
counted as (
    select count(*) as n from (
        select 1 from unnest(cast(:teams as text[])) m (team)
         cross join lateral (
            select 1 from wanted w where w.team = m.team
             order by w.closed_at desc, w.id desc limit :count_limit + 1
        ) theirs
         limit :count_limit + 1
    ) c
),
page as (
    select theirs.* from unnest(cast(:teams as text[])) m (team)
     cross join lateral (
        select * from wanted w
         where w.team = m.team and (w.closed_at, w.id) < (cast(:closed_at as bigint), cast(:id as text))
         order by w.closed_at desc, w.id desc limit :limit
    ) theirs
     order by closed_at desc, id desc limit :limit
)
{@closed_shown}
