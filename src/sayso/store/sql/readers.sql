-- The one reader of the journal: how far it has come, and the indexes it makes. Rows come as one JSON
-- list: {each_row} unfolds it, and {r0}, {r1} and so on are the values of one.

-- name: reached
select cursor from readers where name = 'journal'

-- name: reader_moves
-- Of two who read on from the same place one gets on.
insert into readers (name, cursor) select 'journal', :after
 where true
on conflict (name) do update set cursor = excluded.cursor where readers.cursor = :before

-- name: reader_restarts
delete from readers where name = 'journal'

-- name: empty_cases
delete from cases

-- name: empty_texts
delete from texts

-- name: empty_tallies
delete from tallies

-- name: empty_labels
delete from labels

-- name: empty_trail
delete from trail

-- Nothing is put back that was erased since it was read: {shared} keeps an erasure waiting that comes
-- while an ask is written.

-- name: put_cases
insert into cases (id, kind, tool, agent, team, verdict, at, about, said)
select {r0}, {r1}, {r2}, {r3}, coalesce((select a.team from asks a where a.id = {r0}), ''),
       {r4}, cast({r5} as bigint), {r6}, {r7}
  from {each_row} cross join events e
 where e.stream = {r0} and e.seq = 1 and e.payload is not null
 order by one.key {shared}
on conflict (id) do update
   set kind = excluded.kind, tool = excluded.tool, agent = excluded.agent,
       verdict = excluded.verdict, at = excluded.at, about = excluded.about, said = excluded.said

-- name: drop_cases
delete from cases where id in (select {r} from {each_row})

-- name: hide_case
delete from cases where id = :stream

-- name: put_texts
insert into texts (id, state, words)
select {r0}, {r1}, {r2}
  from {each_row} cross join events e
 where e.stream = {r0} and e.seq = 1 and e.payload is not null
 order by one.key {shared}
on conflict (id) do update set state = excluded.state, words = excluded.words

-- name: drop_texts
delete from texts where id in (select {r} from {each_row})

-- name: hide_text
delete from texts where id = :stream

-- name: put_tallies
insert into tallies (grain, at, team, agent, tool, tier, person, kind, what, bin, n, micros)
select {r0}, cast({r1} as bigint), {r2}, {r3}, {r4}, {r5}, {r6}, {r7}, {r8}, cast({r9} as bigint),
       cast({r10} as bigint), cast({r11} as bigint)
  from {each_row}
 where true
 order by one.key
on conflict (grain, at, team, agent, tool, tier, person, kind, what, bin) do update
   set n = tallies.n + excluded.n, micros = tallies.micros + excluded.micros

-- name: put_labels
insert into labels (team, agent, tool, kind, stated, n, good, weight, good_weight)
select {r0}, {r1}, {r2}, {r3}, cast({r4} as bigint), cast({r5} as bigint), cast({r6} as bigint),
       cast({r7} as double precision), cast({r8} as double precision)
  from {each_row}
 where true
 order by one.key
on conflict (team, agent, tool, kind, stated) do update
   set n = labels.n + excluded.n, good = labels.good + excluded.good,
       weight = labels.weight + excluded.weight,
       good_weight = labels.good_weight + excluded.good_weight

-- name: put_trail
insert into trail (team, at, stream, seq, kind, sort, actor, tool, verdict)
select {r0}, cast({r1} as bigint), {r2}, cast({r3} as bigint), {r4}, {r5}, {r6}, {r7}, {r8}
  from {each_row}
 order by one.key

-- name: change_trail
-- Once an ask is erased, the index says no more of it than its journal does.
update trail set sort = {r5}, actor = {r6}, tool = {r7}, verdict = {r8}
  from {each_row}
 where trail.team = {r0} and trail.stream = {r2} and trail.seq = cast({r3} as bigint)
