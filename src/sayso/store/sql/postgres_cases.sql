-- name: near_cases
select {@case_columns}
  from cases
 where cases.words @@ cast(:match as tsquery) and {@case_filter}
 order by ts_rank(cases.words, cast(:match as tsquery)) desc, cases.at desc, cases.id desc limit :limit

-- name: word_counts
select w.word, (select count(*) from (select 1 from cases where cases.words @@ cast(quote_literal(w.word) as tsquery) limit :most) found)
  from unnest(cast(:words as text[])) as w (word)

-- name: journals
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream = any(:ids) order by stream, seq

-- name: events_at
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from jsonb_array_elements(cast(:places as jsonb)) p (value)
  join events e on e.stream = p.value ->> 0 and e.seq = cast(p.value ->> 1 as bigint)

-- name: put_trail
insert into trail (team, at, stream, seq, kind, sort, actor, tool, verdict)
select r.value ->> 0, cast(r.value ->> 1 as bigint), r.value ->> 2, cast(r.value ->> 3 as bigint), r.value ->> 4, r.value ->> 5, r.value ->> 6, r.value ->> 7, r.value ->> 8
  from jsonb_array_elements(cast(:rows as jsonb)) with ordinality r (value, place)
 order by r.place

-- name: put_tallies
insert into tallies (grain, at, team, agent, tool, tier, person, kind, what, bin, n, micros)
select r.value ->> 0, cast(r.value ->> 1 as bigint), r.value ->> 2, r.value ->> 3, r.value ->> 4, r.value ->> 5, r.value ->> 6, r.value ->> 7, r.value ->> 8, cast(r.value ->> 9 as bigint), cast(r.value ->> 10 as bigint), cast(r.value ->> 11 as bigint)
  from jsonb_array_elements(cast(:rows as jsonb)) with ordinality r (value, place)
 order by r.place
on conflict (grain, at, team, agent, tool, tier, person, kind, what, bin) do update
   set n = tallies.n + excluded.n, micros = tallies.micros + excluded.micros
