-- What stated confidences came to: an index made from the journal.

-- name: put_label
insert into labels (team, agent, tool, kind, stated, n, good, weight, good_weight)
values (:team, :agent, :tool, :kind, :stated, :n, :good, :weight, :good_weight)
on conflict (team, agent, tool, kind, stated) do update
   set n = labels.n + excluded.n, good = labels.good + excluded.good,
       weight = labels.weight + excluded.weight,
       good_weight = labels.good_weight + excluded.good_weight

-- name: turn_label
-- What was found harmful twice was approved once.
update labels set good = good - 1, good_weight = good_weight - :weight
 where team = :team and agent = :agent and tool = :tool and kind = :kind and stated = :stated
   and not exists (select 1 from turned_labels where id = :id)

-- name: put_turned_label
insert into turned_labels (id) values (:id) on conflict (id) do nothing

-- name: drop_labels
delete from labels

-- name: drop_turned_labels
delete from turned_labels

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
