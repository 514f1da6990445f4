-- Queries that read the same on both databases. {now} is the clock the store goes by,
-- {roster} gathers the people on the desk into one JSON object: name: [roles, teams]. {law} is the
-- mark of the law in force: the hash of the last event of its stream.

-- name: load
-- All of one ask in one statement: its journal, its lease, the people, the time.
select {now}, {roster}, a.holder, a.lease_until, {people}, {law},
       e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from asks a
  join events e on e.stream = a.stream
 where a.id = :id
 order by e.seq

-- name: find_key
select id from asks where key = :key

-- name: ask_filter
      (cast(:kind as text) is null or a.kind = :kind)
  and (cast(:risk as text) is null or a.risk = :risk)
  and (cast(:least as bigint) is null or a.rank % 1000 <= :least)
  and (cast(:agent as text) is null or a.agent = :agent)
  and (cast(:tool as text) is null or a.tool = :tool)
  and (cast(:run as text) is null or a.run = :run)
  and (cast(:thread as text) is null or a.thread = :thread)
  and (cast(:assignee as text) is null or a.assignee = :assignee)
  and (cast(:asker as text) is null or (a.agent = :asker and a.team = :asker_team))
  and (cast(:not_voted as text) is null or not length(replace(a.voters, :not_voted, '')) < length(a.voters))
  and {roles}

-- The inbox is spans of the index of open asks, one behind the other, three for each rank there is:
-- what expires soon (places below 1000), what needs people (1000 on), and what is for information
-- (2000 on, of ranks from 1000 on). Whoever looks walks from span to span until there is enough, so
-- that it costs what is on the page however the asks are spread. The count stops behind
-- :count_limit, and sees the same moment as the page.

-- name: inbox_clock
with recursive clock as materialized (
    select c.now, coalesce(cast(:soon as bigint), c.now + cast(:soon_span as bigint)) as soon
      from (select {now} as now) c
)

-- name: inbox_spans
-- `wanted` must be put in place where it is used: gathered once, it would hold every open ask. A
-- clock inside would prevent that. The page goes on behind the place that the cursor names.
{@inbox_clock},
wanted as not materialized (
    select a.id, a.rank, a.latest, a.opened_at, a.team
      from asks a
     where a.status = 'open' and {@ask_filter}
),
ranks (rank) as (
    select min(a.rank) from asks a where a.status = 'open'
    union all
    select (select min(a.rank) from asks a where a.status = 'open' and a.rank > r.rank)
      from ranks r where r.rank is not null
),
edges as (
    select place, rank,
           case when place between 1000 and 1999 and clock.soon > clock.now then clock.soon
                else clock.now end as above,
           case when rank % 1000 > coalesce(cast(:least as bigint), 999) then -1
                when place < 1000 then clock.soon
                else {never} end as upto
      from clock
      cross join (select rank as place, rank from ranks where rank < 1000
                  union all
                  select rank + 1000, rank from ranks where rank is not null) places
),
spans as materialized (
    select place, rank, above, upto,
           case when goes_on then cast(:latest as bigint) else above end as latest,
           case when goes_on then cast(:opened_at as bigint) else {never} end as opened_at,
           case when goes_on then cast(:id as text) else '' end as id,
           row_number() over (order by place) as step
      from (select place, rank, above, upto,
                   place = :place and cast(:latest as bigint) > above as goes_on
              from edges) s
)

-- name: inbox_page
counted as (
    select max(n) as n from tally
),
page as (
    select b.id, b.stream, walk.place, b.latest, b.opened_at, b.holder, b.lease_until
      from walk
      cross join {each}
      join asks b on b.id = j.value
     order by walk.place, b.latest, b.opened_at, b.id
     limit :limit
)
{@inbox_shown}

-- name: inbox_shown
select counted.n, page.id, page.place, page.latest, page.opened_at, clock.soon,
       clock.now, case when page.id is not null then {roster} end, page.holder, page.lease_until, 0,
       case when page.id is not null then {law} end,
       e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from clock
  cross join counted
  left join page on true
  left join events e on e.stream = page.stream
 order by page.place, page.latest, page.opened_at, page.id, e.seq

-- name: inbox
{@inbox_spans},
tally (step, n) as (
    select cast(0 as bigint), cast(0 as bigint)
    union all
    select s.step, t.n + (
            select count(*) from (
                select 1 from wanted w
                 where w.rank = s.rank and w.latest > s.above and w.latest <= s.upto
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
                select w.id from wanted w
                 where w.rank = s.rank and w.latest <= s.upto
                   and (w.latest, w.opened_at, w.id) > (s.latest, s.opened_at, s.id)
                 order by w.latest, w.opened_at, w.id limit :limit
            ) g)
      from walk f join spans s on s.step = f.step + 1
     where f.found + {as_many} < :limit
),
{@inbox_page}

-- name: inbox_found
-- What is searched for is gathered first: nobody reads through all that waits for a rare word.
{@inbox_clock},
found as ({matching}),
wanted as materialized (
    select a.id, a.stream, a.latest, a.opened_at, a.holder, a.lease_until,
           case when a.rank < 1000 and a.latest <= clock.soon then a.rank else a.rank + 1000 end as place
      from clock
      cross join found
      join asks a on a.id = found.id
     where a.status = 'open' and a.latest > clock.now and {seen} and {@ask_filter}
),
counted as (
    select count(*) as n from (select 1 from wanted limit :count_limit + 1) c
),
page as (
    select * from wanted
     where (place, latest, opened_at, id) > (cast(:place as integer), :latest, :opened_at, :id)
     order by place, latest, opened_at, id limit :limit
)
{@inbox_shown}

-- What is closed, the newest first: what the policy allowed at once was never put to people.

-- name: closed_wanted
with clock as materialized (
    select {now} as now
),
wanted as not materialized (
    select a.id, a.stream, a.closed_at, a.holder, a.lease_until, a.team
      from asks a
     where a.closed_at is not null and a.agent is not null and {@ask_filter}
)

-- name: closed_shown
select counted.n, page.id, page.closed_at,
       clock.now, case when page.id is not null then {roster} end, page.holder, page.lease_until, 0,
       case when page.id is not null then {law} end,
       e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from clock
  cross join counted
  left join page on true
  left join events e on e.stream = page.stream
 order by page.closed_at desc, page.id desc, e.seq

-- name: closed
{@closed_wanted},
counted as (
    select count(*) as n from (
        select 1 from wanted order by closed_at desc, id desc limit :count_limit + 1) c
),
page as (
    select * from wanted
     where (closed_at, id) < (cast(:closed_at as bigint), cast(:id as text))
     order by closed_at desc, id desc limit :limit
)
{@closed_shown}

-- name: closed_found
with clock as materialized (
    select {now} as now
),
found as ({matching}),
wanted as materialized (
    select a.id, a.stream, a.closed_at, a.holder, a.lease_until
      from found
      join asks a on a.id = found.id
     where a.closed_at is not null and a.agent is not null and {seen} and {@ask_filter}
),
counted as (
    select count(*) as n from (select 1 from wanted limit :count_limit + 1) c
),
page as (
    select * from wanted
     where (closed_at, id) < (cast(:closed_at as bigint), cast(:id as text))
     order by closed_at desc, id desc limit :limit
)
{@closed_shown}

-- Asked for once, as `(select {now})`, a ticking clock can be looked up in an index.

-- name: due
select id from asks
 where status in ('open', 'settling') and next_at is not null and next_at <= (select {now})
 order by next_at limit :limit

-- name: settling
-- What a person has decided and may still take back. Few settle, and each has a moment at which it
-- counts: that finds them by the index of what the clock looks at.
select id from asks a
 where a.status in ('open', 'settling') and a.next_at is not null
   and a.status = 'settling' and a.next_at > (select {now})
   and length(replace(a.voters, :voter, '')) < length(a.voters)
 order by a.next_at desc limit :limit

-- name: lapsed
-- Of a run that was cancelled, its worker reports or nobody does.
select id from (
    select id, lease_until from asks
     where effect = 'intended' and lease_until <= (select {now})
    union all
    select a.id, 0 from asks a join runs r on r.id = a.run
     where a.effect = 'intended' and a.lease_until is null and r.status = 'cancelled'
) silent
 order by lease_until limit :limit

-- name: renew
update asks set lease_until = {now} + :span
 where holder = :holder

-- name: roster
select {roster}, {people}

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
update asks set key = null, run = null, thread = null, tool = null where id = :stream

-- name: put_person
insert into people (name, roles, teams, active) values (:name, :roles, :teams, :active)
on conflict (name) do update
   set roles = excluded.roles, teams = excluded.teams, active = excluded.active

-- What is written: an event, and the row that it changes. Each of them ends with a condition, so
-- that another one can be added.

-- name: new_event
insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
select :stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash

-- name: note
-- Of any number of racers one finds the place (stream, seq) free; the others break its unique index.
-- An event that follows none that stands here is not written: what it followed was lost in a crash.
{@new_event}
 where (:seq = 1 or exists (select 1 from events b
                             where b.stream = :stream and b.seq = :seq - 1 and b.hash = :previous))

-- name: note_next
-- What it follows is written by the same statement, which does not see its own rows.
{@new_event}
 where true

-- name: note_lawful
-- The same for an event that rests on a ruling: not once the law is another one.
{@note} and {same_law}

-- name: note_next_lawful
{@note_next} and {same_law}

-- name: open
-- Opens nothing once the people or the law are no longer those that were read, or while the same is
-- open: that breaks the unique index of `likeness`.
insert into asks (id, stream, kind, status, rank, tier, risk, run, thread, key, roles, voters, version,
                  opened_at, due_at, next_at, latest, agent, tool, likeness, assignee, paced,
                  effect, team, closed_at, holder, lease_until)
select :id, :ask_stream, :ask_kind, :status, :rank, :tier, :risk, :run, :thread, :key, :roles, :voters,
       :version, :opened_at, :due_at, :next_at, :latest, :agent, :tool, cast(:likeness as text),
       :assignee, cast(:paced as integer), :effect, :team, :closed_at, :holder,
       {now} + cast(:span as bigint)
 where {same_people} and {same_law}

-- name: grow
-- Changes nothing once it is too late: that is decided here, not by whoever looked before. Nor is an
-- approval spent that the row says was spent, should the end of its journal be gone.
update asks
   set status = :status, version = :version, voters = :voters, roles = :roles, effect = :effect,
       closed_at = :closed_at,
       holder = case when :over then null else coalesce(:holder, holder) end,
       lease_until = case when :over then null
                          else coalesce({now} + cast(:span as bigint), lease_until) end
 where {guard} and (:spends = 0 or effect is null)

-- name: judge
-- The same for an ask that nobody holds or carries out: fewer columns, fewer indexes.
update asks
   set status = :status, version = :version, voters = :voters, roles = :roles,
       closed_at = :closed_at
 where {guard}

-- name: move
-- The same for what changes where it stands in the queue, or when the clock looks at it next.
update asks
   set status = :status, version = :version, voters = :voters, roles = :roles, rank = :rank, tier = :tier,
       due_at = :due_at, next_at = :next_at, latest = :latest, assignee = :assignee,
       closed_at = :closed_at,
       likeness = case when :edited then null else likeness end
 where {guard}

-- name: alike
-- Counted in the row, or a flood would fill the journal of the very ask it repeats.
update asks set repeats = repeats + 1
 where likeness = :likeness and status in ('open', 'settling') and {unsynced}
returning id, repeats

-- name: paced
-- How many an agent has put to people since then, how many of its asks wait for them now, and how
-- many of its calls were begun and are not over: each of those may be put to people yet. The row of
-- a call that nobody was asked about does not name its agent.
select (select count(*) from asks where paced = 1 and agent = :agent and opened_at > :since),
       (select min(opened_at) from asks where paced = 1 and agent = :agent and opened_at > :since),
       (select count(*) from asks where paced = 1 and status = 'open' and agent = :agent),
       (select count(*) from asks a join events e on e.stream = a.stream and e.seq = 1
         where a.effect = 'intended' and e.actor = 'agent:' || :agent)

-- Runs. {served} says whose code this process has; {locked} lets claimers pass each other by.
-- Of a workflow in several versions, a run stays with the one that carried it on last while a worker
-- that has it is alive; then others try.

-- name: run_columns
id, workflow, path, thread, status, seq, wake, waits, token, worker, lease_until, attempt,
started_at, changed_at, doing, progress, team, code, {now}

-- name: run_start
insert into runs (id, workflow, path, thread, status, seq, wake, waits, token, worker, lease_until,
                  attempt, started_at, changed_at, doing, progress, team, code)
select :id, :workflow, :path, :thread, :status, :run_seq, 0, :waits, :token, :worker, {now} + cast(:span as bigint),
       :attempt, :started_at, :started_at, null, cast(:progress as double precision), :team, :code
 where true

-- name: run_hold
-- Whoever holds the token goes on; everybody else finds no row and writes nothing.
update runs
   set seq = :run_seq, lease_until = {now} + cast(:span as bigint), doing = :doing, code = :code,
       progress = coalesce(cast(:progress as double precision), progress)
 where id = :id and token = :token

-- name: run_leave
-- A pause misses if a decision came since the asks were read: then there is something to do.
update runs
   set status = :status, seq = :run_seq, waits = :waits, attempt = case when :status = 'ready' then attempt - 1 else 0 end,
       token = null, lease_until = null, changed_at = {now}, doing = :doing, code = coalesce(cast(:code as text), code),
       progress = coalesce(cast(:progress as double precision), progress)
 where id = :id and token = :token and (cast(:wake as bigint) is null or wake = cast(:wake as bigint))

-- name: run_steer
-- Somebody other than its worker ends it or lets it go on, whatever the worker thinks.
update runs
   set status = :status, seq = :run_seq, waits = '', attempt = 0, token = null, lease_until = null,
       changed_at = {now}, doing = null
 where id = :id and status = :before

-- name: run_wake
update runs
   set wake = wake + 1,
       changed_at = case when status = 'waiting' and waits <> replace(waits, :woken, '')
                         then {now} else changed_at end,
       status = case when status = 'waiting' and waits <> replace(waits, :woken, '')
                     then 'ready' else status end
 where id = :run_id

-- name: claimable
-- Looking costs nobody a lock; only who sees something tries to claim it.
select 1 from runs r where r.status = 'ready' and {served}
union all
select 1 from runs r
 where r.status = 'running' and r.lease_until <= (select {now}) and {served}
limit 1

-- name: overdue
select id from (
    select r.id, r.changed_at as since from runs r
     where r.status = 'ready' and r.changed_at <= (select {now}) - cast(:span as bigint) and {served}
    union all
    select r.id, r.lease_until from runs r
     where r.status = 'running' and r.lease_until <= (select {now}) and {served}
) late
 order by since limit :limit

-- name: claim
update runs
   set status = 'running', token = :token, worker = :worker, lease_until = {now} + cast(:span as bigint),
       attempt = attempt + 1
 where id = (select r.id from runs r
              where r.status = 'ready' and {served}
              order by r.changed_at limit 1 {locked}) and {unsynced}
returning {@run_columns}

-- name: reclaim
-- From a worker that fell silent.
update runs
   set status = 'running', token = :token, worker = :worker, lease_until = {now} + cast(:span as bigint),
       attempt = attempt + 1
 where id = (select r.id from runs r
              where r.status = 'running' and r.lease_until <= (select {now}) and {served}
              order by r.lease_until limit 1 {locked}) and {unsynced}
returning {@run_columns}

-- name: claim_this
-- One that somebody named, on either ground. Found by its id, however many are ready.
update runs
   set status = 'running', token = :token, worker = :worker, lease_until = {now} + cast(:span as bigint),
       attempt = attempt + 1
 where id = (select r.id from runs r
              where r.id = :only and {served}
                and (r.status = 'ready' or (r.status = 'running' and r.lease_until <= (select {now})))
              {locked}) and {unsynced}
returning {@run_columns}

-- name: run_beat
update runs set lease_until = {now} + cast(:span as bigint), doing = :doing where id = :id and token = :token

-- name: run
select {@run_columns}
  from runs where id = :id

-- name: run_filter
    (cast(:before as bigint) is null or (started_at, id) < (cast(:before as bigint), :before_id))
   and (cast(:begins as text) is null or substr(id, 1, length(cast(:begins as text))) = cast(:begins as text))
   and {seen}
 order by started_at desc, id desc limit :limit

-- name: runs
select {@run_columns}
  from runs
 where {@run_filter}

-- name: runs_of_status
select {@run_columns}
  from runs
 where status = :status and {@run_filter}

-- name: runs_of_workflow
select {@run_columns}
  from runs
 where workflow = :workflow
   and (cast(:status as text) is null or status = cast(:status as text))
   and {@run_filter}

-- name: runs_of_thread
select {@run_columns}
  from runs
 where thread = :thread
   and (cast(:status as text) is null or status = cast(:status as text))
   and (cast(:workflow as text) is null or workflow = cast(:workflow as text))
   and {@run_filter}

-- name: run_of_thread
select {@run_columns}
  from runs
 where thread = :thread and team = :team
   and status in ('ready', 'running', 'waiting', 'parked')

-- name: history
-- All that a run goes on from in one statement: its own journal first, then as in run_asks.
select 0, e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from events e
 where e.stream = :id
union all
select a.opened_at, e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from asks a join events e on e.stream = a.id
 where a.run = :id
 order by 1, 2, 3

-- name: run_asks
-- Everything its asks say, ask by ask in the order of opening.
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from asks a join events e on e.stream = a.id
 where a.run = :id
 order by a.opened_at, a.id, e.seq

-- name: stray_runs
select r.id from runs r
 where not exists (select 1 from events e where e.stream = r.id)
 order by r.id limit 100
