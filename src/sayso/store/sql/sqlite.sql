-- name: tail
select desk.epoch, e.pos, e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from desk cross join events e
 where e.pos > :pos and coalesce(:epoch = desk.epoch, true)
 order by e.pos limit :limit

-- name: ahead
-- A cursor of another epoch, or behind the end: of a journal that knew more than this one.
select :epoch <> desk.epoch or :pos > (select coalesce(max(pos), 0) from events) from desk

-- name: copied_at
select copied_at from desk

-- name: next_epoch
update desk set epoch = epoch + 1, copied_at = coalesce(copied_at, :now)

-- name: at_home
update desk set copied_at = null

-- name: mark_copy
update desk set copied_at = :now

-- name: tip
select desk.epoch, (select coalesce(max(pos), 0) from events) from desk

-- name: indexed
select id, stream, kind, status, rank, tier, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, next_at, latest, agent, assignee, effect, team, tool,
       closed_at
  from asks where id in (select value from json_each(:ids))

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by pos desc limit :limit

-- name: beginnings
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream in (select value from json_each(:ids)) and seq <= 2
 order by stream, seq

-- name: inbox_of_teams
-- The same in each team, and in what belongs to none: of each as much as could be shown.
{@inbox_spans},
tally (step, n) as (
    select cast(0 as bigint), 0
    union all
    select s.step, t.n + (
            select count(*) from (
                select 1 from json_each(:teams) m cross join wanted w
                 where w.team = m.value
                   and w.rank = s.rank and w.latest > s.above and w.latest <= s.upto
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
                select b.id from json_each(:teams) m
                  join asks b on b.id in (
                    select w.id from wanted w
                     where w.team = m.value and w.rank = s.rank and w.latest <= s.upto
                       and (w.latest, w.opened_at, w.id) > (s.latest, s.opened_at, s.id)
                     order by w.latest, w.opened_at, w.id limit :limit
                )
                 order by b.latest, b.opened_at, b.id limit :limit
            ) g)
      from walk f join spans s on s.step = f.step + 1
     where f.found + {as_many} < :limit
),
{@inbox_page}

-- name: closed_of_teams
{@closed_wanted},
counted as (
    select count(*) as n from (
        select 1 from json_each(:teams) m cross join wanted w
         where w.team = m.value limit :count_limit + 1
    ) c
),
page as (
    select b.id, b.stream, b.closed_at, b.holder, b.lease_until
      from json_each(:teams) m
      join asks b on b.id in (
        select w.id from wanted w
         where w.team = m.value and (w.closed_at, w.id) < (:closed_at, :id)
         order by w.closed_at desc, w.id desc limit :limit
    )
     order by b.closed_at desc, b.id desc limit :limit
)
{@closed_shown}

-- name: written
select coalesce(max(pos), 0) from events
