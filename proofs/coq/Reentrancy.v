(* Reentrancy.v - [P6]: whatever callbacks do, a timer is idle when its callback
   runs, a timer started during a mow waits for a later one, and a mow inside a mow
   does nothing. A mow fires no more than its budget, returns the number, and ends.

   Callbacks are not in the model's mow: any operation may come between two of its
   steps. So a property of all operations is a property of all callbacks. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps Never_early Index Never_forgotten
  Start_stop_total.
Import ListNotations.
Open Scope N_scope.

(* The remaining work of a mow to a time: twice the number of timers in the index that
   are due by then, plus the number of blades whose entry is due by then and differs
   from the deadline of their head. *)
Definition is_due (u : N) (t : timer) : bool := due t <=? u.
Fixpoint due_by (u : N) (l : list timer) : nat :=
  match l with
  | [] => O
  | t :: l => ((if is_due u t then 2 else 0) + due_by u l)%nat
  end.
Definition stale_by (u : N) (b : blade) : nat :=
  match entry b with
  | None => O
  | Some v =>
      if v <=? u then
        match queue b with t :: _ => if due t =? v then O else 1%nat | [] => 1%nat end
      else O
  end.
Definition weight (u : N) (b : blade) : nat := (due_by u (queue b) + stale_by u b)%nat.
Fixpoint weights (u : N) (l : list blade) : nat :=
  match l with [] => O | b :: l => (weight u b + weights u l)%nat end.
Definition todo (u : N) (s : lawn) : nat :=
  (weights u (blades s) + due_by u (unqueued s))%nat.

Lemma due_by_app u l1 l2 : due_by u (l1 ++ l2) = (due_by u l1 + due_by u l2)%nat.
Proof. induction l1; simpl; lia. Qed.

Lemma due_by_drop u x l : (due_by u (drop x l) <= due_by u l)%nat.
Proof.
  induction l as [|t l IH]; simpl; auto.
  destruct (Nat.eqb (name t) x); simpl; lia.
Qed.

Lemma due_by_drop_in u x l t : In t l -> name t = x -> due t <= u ->
  (due_by u (drop x l) + 2 <= due_by u l)%nat.
Proof.
  intros Hi Hn Hd. induction l as [|a l IH]; simpl; [destruct Hi|].
  pose proof (due_by_drop u x l). destruct Hi as [->|Hi].
  - rewrite Hn, Nat.eqb_refl. simpl. unfold is_due.
    destruct (N.leb_spec (due t) u); lia.
  - specialize (IH Hi). destruct (Nat.eqb (name a) x); simpl; lia.
Qed.

Lemma weights_app u l1 l2 : weights u (l1 ++ l2) = (weights u l1 + weights u l2)%nat.
Proof. induction l1; simpl; lia. Qed.

(* Removing a timer from its blade may leave a stale entry, but no more work. *)
Lemma weight_drop u x b : (weight u (drop_blade x b) <= weight u b)%nat.
Proof.
  unfold weight, stale_by. simpl. destruct (entry b) as [v|].
  2: { pose proof (due_by_drop u x (queue b)). lia. }
  destruct (N.leb_spec v u) as [Hv|Hv].
  2: { pose proof (due_by_drop u x (queue b)). lia. }
  destruct (queue b) as [|t q]; simpl; [lia|].
  pose proof (due_by_drop u x q) as Hq. unfold is_due.
  destruct (Nat.eqb (name t) x); simpl.
  - destruct (N.eqb_spec (due t) v) as [E|E].
    + destruct (N.leb_spec (due t) u); [|lia].
      destruct (drop x q) as [|t' q']; [lia|]. destruct (due t' =? v); lia.
    + destruct (drop x q) as [|t' q']; [lia|]. destruct (due t' =? v); lia.
  - unfold is_due. lia.
Qed.

Lemma weight_drop_in u x b t : In t (queue b) -> name t = x -> due t <= u ->
  (weight u (drop_blade x b) < weight u b)%nat.
Proof.
  intros Hi Hn Hd. pose proof (due_by_drop_in u x (queue b) t Hi Hn Hd).
  unfold weight, stale_by. simpl. destruct (entry b) as [v|]; [|lia].
  destruct (v <=? u); [|lia].
  destruct (drop x (queue b)) as [|t' q']; [lia|]. destruct (due t' =? v); lia.
Qed.

Lemma weights_drop u x l : (weights u (map (drop_blade x) l) <= weights u l)%nat.
Proof.
  induction l as [|b l IH]; simpl; auto. pose proof (weight_drop u x b). lia.
Qed.

Lemma todo_remove u x s : (todo u (remove x s) <= todo u s)%nat.
Proof.
  unfold todo. simpl. pose proof (weights_drop u x (blades s)).
  pose proof (due_by_drop u x (unqueued s)). lia.
Qed.

(* Firing a timer reduces the work. *)
Lemma todo_fire u t s : in_index s t -> due t <= u ->
  (todo u (remove (name t) s) < todo u s)%nat.
Proof.
  intros [Hi|Hi] Hd; unfold todo; simpl.
  - apply in_on_blades in Hi. destruct Hi as (b & Hb & Hi).
    apply in_split in Hb. destruct Hb as (l1 & l2 & ->).
    rewrite map_app, !weights_app. simpl.
    pose proof (weight_drop_in u (name t) b t Hi eq_refl Hd).
    pose proof (weights_drop u (name t) l1). pose proof (weights_drop u (name t) l2).
    pose proof (due_by_drop u (name t) (unqueued s)). lia.
  - pose proof (due_by_drop_in u (name t) (unqueued s) t Hi eq_refl Hd).
    pose proof (weights_drop u (name t) (blades s)). lia.
Qed.

(* A new timer is due after the mow's time. *)
Lemma todo_place u t c s : (due t <> LAST -> u < due t) ->
  (todo u (place t c s) <= todo u s)%nat.
Proof.
  intros Hu.
  destruct (place_cases t c s)
    as [[_ ->]|[(Hd & _ & ->)|(Hd & w & b & Hn & _ & _ & ->)]].
  - unfold put_last. rewrite lower_bound_eq. auto.
  - unfold put_unqueued. rewrite lower_bound_eq. unfold todo. simpl.
    rewrite due_by_app. simpl. unfold is_due.
    destruct (N.leb_spec (due t) u); [specialize (Hu Hd)|]; lia.
  - specialize (Hu Hd). destruct (put_blade_eq w t s b Hn) as (v & v' & -> & Hv).
    unfold todo. simpl.
    destruct (update_split w (Blade (Some (ttl t)) (Some v) (queue b ++ [t])) _ _ Hn)
      as (l1 & l2 & -> & ->).
    rewrite !weights_app. simpl.
    enough (weight u (Blade (Some (ttl t)) (Some v) (queue b ++ [t])) <= weight u b)%nat
      by lia.
    unfold weight, stale_by. simpl. rewrite due_by_app. simpl. unfold is_due at 1.
    destruct (N.leb_spec (due t) u); [lia|].
    destruct Hv as [(Hv & _)|(_ & -> & _)].
    + rewrite Hv. destruct (v <=? u); [|lia].
      destruct (queue b) as [|a q]; simpl; [|lia]. destruct (due t =? v); lia.
    + destruct (N.leb_spec (due t) u); lia.
Qed.

Lemma weight_settled u b : (weight u (settled b) <= weight u b)%nat.
Proof.
  unfold weight, stale_by. simpl. destruct (queue b) as [|t q]; simpl; [lia|].
  rewrite N.eqb_refl. destruct (due t <=? u); lia.
Qed.

Lemma todo_settle u s l : Forall2 maybe_settled (blades s) l ->
  (todo u (set_blades l s) <= todo u s)%nat.
Proof.
  intros H. unfold todo. simpl.
  enough (weights u l <= weights u (blades s))%nat by lia.
  induction H as [|a b l1 l2 Hab _ IH]; simpl; auto.
  destruct Hab as [->| ->]; [|pose proof (weight_settled u a)]; lia.
Qed.

Lemma todo_reserve u w t s : (todo u (reserve w t s) <= todo u s)%nat.
Proof.
  unfold reserve. destruct (tuning s); auto.
  destruct (nth_error (blades s) w) as [b|] eqn:Hn; auto.
  destruct (queue b) eqn:Hq; auto. unfold todo. simpl.
  destruct (update_split w (Blade (Some t) (entry b) []) _ _ Hn) as (l1 & l2 & -> & ->).
  rewrite !weights_app. simpl. unfold weight, stale_by. simpl. rewrite Hq. auto.
Qed.

Lemma fire_in_index e t s : fires_from e t s -> in_index s t.
Proof.
  intros [(_ & l1 & l2 & Hl' & _)|(_ & _ & w & b & q & Hn & _ & Hq)].
  - right. rewrite Hl'. apply in_or_app. simpl. auto.
  - left. apply in_on_blades. exists b. split; [eapply nth_error_In; eauto|].
    rewrite Hq. simpl. auto.
Qed.

Lemma todo_settle_one u w s : (todo u (settle w s) <= todo u s)%nat.
Proof.
  unfold settle. destruct (nth_error (blades s) w) as [b|] eqn:E; auto.
  apply todo_settle. apply forall2_update. auto.
Qed.

(* Settling a stale entry reduces the work. *)
Lemma todo_settle_stale u w s b e : nth_error (blades s) w = Some b ->
  entry b = Some e -> e <= u -> (forall t q, queue b = t :: q -> e < due t) ->
  (todo u (settle w s) < todo u s)%nat.
Proof.
  intros Hn Ht He Hq. unfold settle. rewrite Hn. unfold todo. simpl.
  destruct (update_split w (settled b) _ _ Hn) as (l1 & l2 & -> & ->).
  rewrite !weights_app. simpl.
  enough (weight u (settled b) < weight u b)%nat by lia.
  unfold weight, stale_by. rewrite Ht. simpl. destruct (N.leb_spec e u); [|lia].
  destruct (queue b) as [|t q]; simpl; [lia|]. specialize (Hq t q eq_refl).
  rewrite N.eqb_refl. destruct (N.eqb_spec (due t) e); [lia|].
  destruct (due t <=? u); lia.
Qed.

(* The mow continues, with no more work than before. *)
Definition goes_on (m : mowing) (s s' : lawn) : Prop :=
  exists m', mode s' = Some m' /\ until m' = until m /\ fresh m' = fresh m /\
    (todo (until m) s' <= todo (until m) s)%nat.

Lemma goes_on_same m s s' : mode s = Some m -> mode s' = mode s ->
  (todo (until m) s' <= todo (until m) s)%nat -> goes_on m s s'.
Proof. intros Hm E H. exists m. rewrite E. auto. Qed.

Lemma goes_on_fire m t s : goes_on m s (fire_timer m t s).
Proof.
  eexists. split; [reflexivity|]. repeat split; auto. apply todo_remove.
Qed.

Lemma work_goes_on m w s : mode s = Some m -> goes_on m s (work w s).
Proof.
  intros Hm. assert (Hs : goes_on m s s) by (apply goes_on_same; auto).
  unfold work. rewrite Hm. destruct (left m =? 0); auto.
  destruct (first_time s) as [e|]; auto. destruct (until m <? e); auto.
  destruct (find _ _); [apply (goes_on_fire m t (set_base e s))|].
  unfold work_blade. assert (Hb : goes_on m s (set_base e s)) by (apply goes_on_same; auto).
  assert (Hw : goes_on m s (settle w (set_base e s))).
  { apply goes_on_same; auto.
    - unfold settle. destruct (nth_error _ _); auto.
    - apply (todo_settle_one (until m) w (set_base e s)). }
  destruct (nth_error _ _) as [b|]; auto. destruct (entry b) as [v|]; auto.
  destruct (v =? e); auto. destruct (queue b) as [|t q]; auto.
  destruct (e <? due t); auto. apply (goes_on_fire m t (set_base e s)).
Qed.

(* No operation of a callback adds work to a mow. *)
Lemma run_goes_on m o s : sound s -> indexed s -> mode s = Some m ->
  mode (run s o) = None \/ goes_on m s (run s o).
Proof.
  intros Hs Hi Hm.
  assert (Hstart : forall x d c, goes_on m s (start x d c s)).
  { intros x d c. apply goes_on_same; auto.
    - destruct (start_facts x d c s) as (_ & _ & _ & -> & _). auto.
    - eapply Nat.le_trans; [apply todo_place|apply (todo_remove (until m) x s)].
      apply new_timer_later; [apply (s_now s Hs)|apply (i_until s Hi m Hm)]. }
  assert (Hsame : goes_on m s s) by (apply goes_on_same; auto).
  destruct o; simpl; auto.
  - right. apply Hstart.
  - right. unfold stop. destruct (pending x s); auto. apply goes_on_same; auto.
    apply todo_remove.
  - right. unfold advance_clock. destruct (now s <? t); [apply goes_on_same|]; auto.
  - right. unfold look. destruct (next_stays s); auto. rewrite Hm.
    apply goes_on_same; auto. apply todo_settle. apply forall2_map.
  - right. unfold peek. rewrite Hm. auto.
  - right. unfold mow. rewrite Hm. auto.
  - right. apply work_goes_on. auto.
  - right. apply goes_on_same; auto.
    + unfold settle. destruct (nth_error _ _); auto.
    + apply todo_settle_one.
  - right. unfold advance. rewrite Hm. destruct (_ && _); [apply goes_on_same|]; auto.
  - unfold break_off. rewrite Hm. destruct (_ && _); auto.
  - unfold finish. rewrite Hm. destruct (left m =? 0); auto.
    destruct (first_time s) as [e|]; auto. destruct (until m <? e); auto.
  - right. apply goes_on_same; auto.
    + unfold reserve. destruct (tuning s); auto.
      destruct (nth_error (blades s) w) as [b|]; auto. destruct (queue b); auto.
    + apply todo_reserve.
Qed.

(* A mow that cannot return yet has a step that reduces the work. *)
Lemma work_does m s : mode s = Some m -> mode (finish s) <> None ->
  exists w, (todo (until m) (work w s) < todo (until m) s)%nat.
Proof.
  intros Hm Hf. unfold finish in Hf. rewrite Hm in Hf. unfold work. rewrite Hm.
  destruct (left m =? 0); [simpl in Hf; congruence|].
  destruct (first_time s) as [e|] eqn:He; [|simpl in Hf; congruence].
  destruct (N.ltb_spec (until m) e) as [|Hu]; [simpl in Hf; congruence|]. clear Hf.
  destruct (find (fun t => due t =? e) (unqueued (set_base e s))) as [t|] eqn:Hl.
  - exists O. apply find_split in Hl. destruct Hl as (Hd & l1 & l2 & Hl & _).
    apply (todo_fire (until m) t (set_base e s)); [|lia]. right. rewrite Hl.
    apply in_or_app. simpl. auto.
  - apply least_in in He. apply in_times in He. destruct He as [(t & Ht & Hd)|He].
    { exfalso. apply (find_none _ _ Hl) in Ht. apply N.eqb_neq in Ht. auto. }
    apply in_entries in He. destruct He as (b & Hb & Ht).
    apply In_nth_error in Hb. destruct Hb as (w & Hw). exists w.
    assert (Hw' : nth_error (blades (set_base e s)) w = Some b) by auto.
    unfold work_blade. rewrite Hw', Ht, N.eqb_refl.
    change (todo (until m) s) with (todo (until m) (set_base e s)).
    destruct (queue b) as [|t q] eqn:Hq.
    + apply (todo_settle_stale _ _ _ b e); auto. rewrite Hq. discriminate.
    + destruct (N.ltb_spec e (due t)) as [Hd|Hd].
      * apply (todo_settle_stale _ _ _ b e); auto. rewrite Hq. intros t' q' [= <- _]. auto.
      * apply (todo_fire (until m) t (set_base e s)); [|lia]. left. apply in_on_blades.
        exists b. split; [eapply nth_error_In; eauto|]. rewrite Hq. simpl. auto.
Qed.

(* So it returns after a bounded number of its own steps, whatever comes between. *)
Theorem reentrancy s : reachable s ->
  (* idle when its callback runs *)
  (forall w t u f, log (work w s) = Fired t u f :: log s ->
     pending (name t) (work w s) = false) /\
  (* a timer that fires was started before the mow that fires it *)
  (forall t u f, In (Fired t u f) (log s) -> stamp t < f) /\
  (* a mow inside a mow; and the fires of the current mow *)
  (forall m, mode s = Some m ->
     (forall t b h e, mow t b h e s = s) /\
     fires s = before m + (budget m - left m) /\ left m <= budget m) /\
  (* it ends *)
  (forall m, mode s = Some m ->
     (forall o, mode (run s o) = None \/ goes_on m s (run s o)) /\
     (mode (finish s) <> None ->
      exists w, (todo (until m) (work w s) < todo (until m) s)%nat)).
Proof.
  intros H. destruct (reachable_mowed s H) as (Hs & Hi & Hm).
  split; [|split; [|split]].
  - intros w t u f E. destruct (pending (name t) (work w s)) eqn:Hp; auto. exfalso.
    pose proof (reachable_logged _ (reachable_run s (Work w) H)) as Hl. simpl in Hl.
    apply pending_spec in Hp. destruct Hp as (t' & Ht & Hn).
    apply (l_newest _ Hl) in Ht. rewrite E, Hn in Ht. simpl in Ht.
    rewrite Nat.eqb_refl in Ht. discriminate.
  - apply (m_fired s Hm).
  - intros m Em. split; [intros t b h e; unfold mow; rewrite Em; auto|].
    destruct (m_count s Hm m Em) as (_ & H1 & H2). auto.
  - intros m Em. split.
    + intros o. apply run_goes_on; auto.
    + apply work_does. auto.
Qed.
