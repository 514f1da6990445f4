-- What stated confidences came to: an index made from the journal.

-- name: label_columns
team, agent, tool, kind, stated, n, good, weight, good_weight

-- name: labels_of
select {@label_columns} from labels
 where team = :team and agent = :agent and tool = :tool and kind = :kind
 order by stated

-- name: labelled
select {@label_columns} from labels
 where (cast(:agent as text) is null or agent = cast(:agent as text))
   and (cast(:tool as text) is null or tool = cast(:tool as text))
   and (cast(:teams as text) is null or cast(:teams as text) <> replace(cast(:teams as text), '|' || team || '|', ''))
 order by team, agent, tool, kind, stated
