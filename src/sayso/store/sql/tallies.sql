-- What happened, counted: an index made from the journal.

-- name: tally_filter
      grain = :grain and at >= :since
  and (cast(:agent as text) is null or agent = cast(:agent as text))
  and (cast(:tool as text) is null or tool = cast(:tool as text))
  and (cast(:tier as text) is null or tier = cast(:tier as text))
  and (cast(:teams as text) is null or cast(:teams as text) <> replace(cast(:teams as text), '|' || team || '|', ''))
  and (cast(:things as text) is null or cast(:things as text) <> replace(cast(:things as text), '|' || what || '|', ''))

-- name: tallied
-- Slots are spans of equal length, counted from the first hour that is wanted.
select cast(least_slot as text) as slot, kind, what, bin, cast(sum(n) as bigint), cast(sum(micros) as bigint)
  from (select (at - :since) / :width as least_slot, kind, what, bin, n, micros
          from tallies where {@tally_filter}) counted
 group by least_slot, kind, what, bin

-- name: tallied_by
select part, kind, what, bin, cast(sum(n) as bigint), cast(sum(micros) as bigint)
  from (select case :by when 'agent' then agent when 'tool' then tool when 'tier' then tier else person end as part,
               kind, what, bin, n, micros
          from tallies where {@tally_filter}) counted
 group by part, kind, what, bin
