-- Queries that read the same on both databases. {now} is the clock the store goes by,
-- {roster} gathers the people on the desk into one JSON object.

-- name: load
-- All of one ask in one statement: its journal, its lease, the people, the time.
select {now}, {roster}, a.holder, a.lease_until, {people},
       e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from asks a
  join events e on e.stream = a.stream
 where a.id = :id
 order by e.seq

-- name: find_key
select id from asks where key = :key

-- name: inbox
-- The count stops at :count_limit + 1; page and count see the same moment. Each of the two
-- walks the index of open asks until it has enough, which needs `wanted` to be put in place
-- twice: gathered once, it would hold every open ask. A clock inside would prevent that.
with clock as materialized (
    select {now} as now
),
wanted as not materialized (
    select a.id, a.stream, a.rank, a.opened_at, a.holder, a.lease_until
      from asks a
     where a.status = 'open'
       and (a.due_at is null or a.due_at > (select now from clock))
       and (cast(:kind as text) is null or a.kind = :kind)
       and (cast(:risk as text) is null or a.risk = :risk)
       and (cast(:run as text) is null or a.run = :run)
       and (cast(:thread as text) is null or a.thread = :thread)
       and (cast(:not_voted as text) is null or a.voters = replace(a.voters, :not_voted, ''))
       and {roles}
),
counted as (
    select count(*) as n from (select 1 from wanted order by rank, opened_at, id limit :count_limit + 1) c
),
page as (
    select * from wanted
     where (rank, opened_at, id) > (:rank, :opened_at, :id)
     order by rank, opened_at, id
     limit :limit
)
select counted.n, page.id, page.rank, page.opened_at,
       clock.now, {roster}, page.holder, page.lease_until, 0,
       e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from clock
  cross join counted
  left join page on true
  left join events e on e.stream = page.stream
 order by page.rank, page.opened_at, page.id, e.seq

-- Asked for once, as `(select {now})`, a ticking clock can be looked up in an index.

-- name: overdue
select id from asks
 where status = 'open' and due_at is not null and due_at <= (select {now})
 order by due_at limit :limit

-- name: lapsed
select id from asks
 where effect = 'intended' and lease_until <= (select {now})
 order by lease_until limit :limit

-- name: renew
update asks set lease_until = {now} + :span
 where holder = :holder

-- name: roster
select {roster}

-- name: head
select seq, hash from events where stream = :stream order by seq desc limit 1

-- name: stream
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream = :stream and seq > :after order by seq

-- name: scan
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where (stream, seq) > (:stream, :seq) order by stream, seq limit :limit

-- name: strays
select a.id from asks a
 where a.stream <> a.id or not exists (select 1 from events e where e.stream = a.stream)
 order by a.id limit 100

-- name: total
select count(*) from events

-- name: erase
update events set payload = null, salt = null where stream = :stream and seq = :seq

-- name: forget
update asks set key = null, run = null, thread = null where id = :stream

-- name: put_person
insert into people (name, roles, active) values (:name, :roles, :active)
on conflict (name) do update set roles = excluded.roles, active = excluded.active
