(* Steps.v - every operation is a sequence of a few kinds of steps. This file proves
   that operations consist of nothing else. The files that follow prove what each
   kind of step preserves. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics.
Import ListNotations.
Open Scope N_scope.

(* Some blades are settled, the others are unchanged. *)
Definition maybe_settled (a b : blade) : Prop := b = a \/ b = settled a.

(* The place of the timer that a mow fires: it is the first unqueued timer due at the
   tick; or there is none, and it is the head of a blade with an entry at the tick. *)
Definition fires_from (e : N) (t : timer) (s : lawn) : Prop :=
  (due t = e /\ exists l1 l2,
     unqueued s = l1 ++ t :: l2 /\ forall x, In x l1 -> due x <> e) \/
  (due t <= e /\ (forall x, In x (unqueued s) -> due x <> e) /\
   exists w b q,
     nth_error (blades s) w = Some b /\ entry b = Some e /\ queue b = t :: q).

(* The bound after a mow. *)
Definition ends_with (m : mowing) (b : N) (s : lawn) : Prop :=
  (left m = 0 /\ b = base s) \/
  (0 < left m /\ until m < b /\ first_time s = Some b) \/
  (0 < left m /\ first_time s = None /\
   b = match last s with [] => NEVER | _ => LAST end).

Inductive step : lawn -> lawn -> Prop :=
| step_start s x d c : step s (start x d c s)
| step_stop s x : pending x s = true -> step s (note (Stopped x) (remove x s))
| step_time s t h : now s < t -> step s (set_clock (N.min t LAST) h s)
| step_quick s t b : mode s = None -> t < bound s ->
    N.min t LAST <= now s ->
    step s (note (Mown t b 0 (starts s)) s)
| step_begin s t b : mode s = None -> N.min t LAST <= now s -> t < LAST ->
    step s (set_bound 0
      (set_mode (Some (Mowing t b b (starts s) (fires s))) s))
| step_begin_last s t b : mode s = None -> N.min t LAST <= now s -> LAST <= t ->
    step s (set_bound 0
      (set_mode (Some (Mowing t b b (starts s) (fires s))) (take_last s)))
| step_base s m e : mode s = Some m -> first_time s = Some e -> e <= until m ->
    step s (set_base e s)
| step_advance s e : base s <= e -> e <= now s ->
    (forall u, In u (times s) -> e <= u) -> step s (set_base e s)
| step_settle s l : Forall2 maybe_settled (blades s) l -> step s (set_blades l s)
| step_fire s m t e : mode s = Some m -> 0 < left m -> first_time s = Some e ->
    base s = e -> e <= until m -> fires_from e t s -> step s (fire_timer m t s)
| step_finish s m b : mode s = Some m -> ends_with m b s ->
    step s (return_with m b s)
| step_break_off s m t : mode s = Some m -> 0 < left m -> t <= until m -> t <= LAST ->
    (forall u, In u (times s) -> t <= u) ->
    step s (note (Mown (until m) (budget m) (budget m) (fresh m))
              (set_bound t (set_mode None s)))
| step_peek s t : mode s = None -> t <= LAST -> (forall u, In u (times s) -> t <= u) ->
    step s (set_bound t s)
| step_next s : mode s = None -> (forall b, In b (blades s) -> settled b = b) ->
    step s (set_bound (next_look s) s)
| step_reserve s w b t : tuning s = None -> nth_error (blades s) w = Some b ->
    queue b = [] ->
    step s (set_blades (update w (Blade (Some t) (entry b) []) (blades s)) s).

Inductive steps : lawn -> lawn -> Prop :=
| steps_none s : steps s s
| steps_more s1 s2 s3 : steps s1 s2 -> step s2 s3 -> steps s1 s3.

Lemma one s1 s2 : step s1 s2 -> steps s1 s2.
Proof. intros. eapply steps_more; eauto. constructor. Qed.

Lemma steps_trans s1 s2 s3 : steps s1 s2 -> steps s2 s3 -> steps s1 s3.
Proof.
  intros H1 H2. induction H2 as [|s2 s4 s3 H2 IH H]; auto.
  apply steps_more with s4; auto.
Qed.

Lemma forall2_refl l : Forall2 maybe_settled l l.
Proof. induction l; constructor; auto. left; auto. Qed.

Lemma forall2_update w b l :
  nth_error l w = Some b -> Forall2 maybe_settled l (update w (settled b) l).
Proof.
  revert w; induction l as [|a l IH]; intros [|w]; simpl; try discriminate.
  - intros [= ->]. constructor; [right; auto|]. apply forall2_refl.
  - intros H. constructor; [left; auto|]. auto.
Qed.

Lemma forall2_map l : Forall2 maybe_settled l (map settled l).
Proof. induction l; constructor; auto. right; auto. Qed.

Lemma settled_twice b : settled (settled b) = settled b.
Proof. reflexivity. Qed.

Lemma advance_clock_steps t h s : steps s (advance_clock t h s).
Proof.
  unfold advance_clock. destruct (N.ltb_spec (now s) t); [|constructor].
  replace (if t <? LAST then t else LAST) with (N.min t LAST).
  - apply one. constructor. auto.
  - destruct (N.ltb_spec t LAST); lia.
Qed.

Lemma settle_steps w s : steps s (settle w s).
Proof.
  unfold settle. destruct (nth_error (blades s) w) as [b|] eqn:H; [|constructor].
  apply one. constructor. apply forall2_update. auto.
Qed.

Lemma mow_steps t b h e s : now s <= LAST -> steps s (mow t b h e s).
Proof.
  intros Hl. unfold mow. destruct (mode s) as [m|] eqn:Hm; [constructor|].
  apply steps_trans with (advance_clock t h s); [apply advance_clock_steps|].
  assert (Hn : N.min t LAST <= now (advance_clock t h s)).
  { rewrite tell_time_now by auto. lia. }
  assert (Hm' : mode (advance_clock t h s) = None).
  { unfold advance_clock. destruct (now s <? t); auto. }
  assert (Hbegin : steps (advance_clock t h s) (set_bound 0
    (set_mode (Some (Mowing t b b (starts (advance_clock t h s))
      (fires (advance_clock t h s))))
      (if LAST <=? t then take_last (advance_clock t h s) else advance_clock t h s)))).
  2: { destruct (N.ltb_spec t (bound (advance_clock t h s))); [|exact Hbegin].
       destruct e; [exact Hbegin|]. apply one. constructor; auto. }
  - destruct (N.leb_spec LAST t); apply one.
    + apply (step_begin_last (advance_clock t h s)); auto.
    + apply (step_begin (advance_clock t h s)); auto.
Qed.

Lemma find_split (e : N) l t :
  find (fun t => due t =? e) l = Some t ->
  due t = e /\ exists l1 l2, l = l1 ++ t :: l2 /\ forall x, In x l1 -> due x <> e.
Proof.
  induction l as [|a l IH]; simpl; [discriminate|].
  destruct (N.eqb_spec (due a) e) as [Ha|Ha].
  - intros [= ->]. split; auto. exists [], l. split; [auto|intros x []].
  - intros H. destruct (IH H) as (Hd & l1 & l2 & -> & Hl). split; auto.
    exists (a :: l1), l2. split; [auto|]. intros x [<-|Hx]; auto.
Qed.

Lemma work_steps w s : steps s (work w s).
Proof.
  unfold work. destruct (mode s) as [m|] eqn:Hm; [|constructor].
  destruct (N.eqb_spec (left m) 0) as [|Hl]; [constructor|].
  destruct (first_time s) as [e|] eqn:Hf; [|constructor].
  destruct (N.ltb_spec (until m) e) as [|Hu]; [constructor|].
  assert (Hb : step s (set_base e s)) by (eapply step_base; eauto).
  set (s' := set_base e s) in *.
  assert (Hm' : mode s' = Some m) by auto.
  assert (Hf' : first_time s' = Some e) by auto.
  apply steps_trans with s'; [apply one; auto|].
  destruct (find (fun t => due t =? e) (unqueued s')) as [t|] eqn:Ht.
  - apply find_split in Ht. destruct Ht as [Hd Ht].
    apply one. eapply step_fire; eauto; [lia|]. left. auto.
  - unfold work_blade.
    destruct (nth_error (blades s') w) as [b|] eqn:Hn; [|constructor].
    destruct (entry b) as [u|] eqn:Hut; [|constructor].
    destruct (N.eqb_spec u e) as [->|]; [|constructor].
    destruct (queue b) as [|t q] eqn:Hq; [apply settle_steps|].
    destruct (N.ltb_spec e (due t)); [apply settle_steps|].
    apply one. eapply step_fire; eauto; [lia|]. right. repeat split; eauto 10.
    intros x Hx Hd. apply (find_none _ _ Ht) in Hx. apply N.eqb_neq in Hx. auto.
Qed.

Lemma advance_steps t s : steps s (advance t s).
Proof.
  unfold advance. destruct (mode s); [|constructor].
  destruct (_ && _) eqn:H; [|constructor].
  apply andb_true_iff in H. destruct H as [H Hf]. apply andb_true_iff in H.
  destruct H as [H1 H2]. apply N.leb_le in H1, H2. rewrite forallb_forall in Hf.
  apply one. apply step_advance; auto.
  intros u Hu. apply N.leb_le. auto.
Qed.

Lemma break_off_steps t s : steps s (break_off t s).
Proof.
  unfold break_off. destruct (mode s) as [m|] eqn:Hm; [|constructor].
  destruct (_ && _) eqn:H; [|constructor].
  apply andb_true_iff in H. destruct H as [H Hf]. apply andb_true_iff in H.
  destruct H as [H1 H2]. apply N.ltb_lt in H1. apply N.leb_le in H2.
  rewrite forallb_forall in Hf.
  apply one. apply step_break_off; auto; try lia.
  intros u Hu. specialize (Hf u Hu). apply N.leb_le in Hf. lia.
Qed.

Lemma peek_steps t s : steps s (peek t s).
Proof.
  unfold peek. destruct (mode s) eqn:Hm; [constructor|].
  destruct (_ && _) eqn:H; [|constructor].
  apply andb_true_iff in H. destruct H as [H Hf]. apply N.leb_le in H.
  rewrite forallb_forall in Hf. apply one. apply step_peek; auto.
  intros u Hu. apply N.leb_le. auto.
Qed.

Lemma finish_steps s : steps s (finish s).
Proof.
  unfold finish. destruct (mode s) as [m|] eqn:Hm; [|constructor].
  destruct (N.eqb_spec (left m) 0) as [|Hl].
  - apply one. apply step_finish; auto. left. auto.
  - destruct (first_time s) as [e|] eqn:Hf; [destruct (N.ltb_spec (until m) e)|].
    + apply one. apply step_finish; auto. right; left. repeat split; auto. lia.
    + constructor.
    + apply one. apply step_finish; auto. right; right. repeat split; auto. lia.
Qed.

Lemma look_steps s : steps s (look s).
Proof.
  unfold look. destruct (next_stays s); [constructor|].
  assert (H : steps s (settle_all s)).
  { apply one. unfold settle_all. constructor. apply forall2_map. }
  destruct (mode s) eqn:Hm; auto.
  apply steps_trans with (settle_all s); auto.
  replace (next_look s) with (next_look (settle_all s)).
  - apply one. apply step_next; auto.
    simpl. intros b Hb. apply in_map_iff in Hb. destruct Hb as (a & <- & _).
    apply settled_twice.
  - unfold next_look, settle_all, first_time, times. simpl.
    rewrite map_map. reflexivity.
Qed.

Lemma reserve_steps w t s : steps s (reserve w t s).
Proof.
  unfold reserve. destruct (tuning s) eqn:Ht; [constructor|].
  destruct (nth_error (blades s) w) as [b|] eqn:Hn; [|constructor].
  destruct (queue b) eqn:Hq; [|constructor]. apply one. apply step_reserve; auto.
Qed.

Theorem run_steps o s : now s <= LAST -> steps s (run s o).
Proof.
  intros Hl. destruct o; simpl.
  - apply one. constructor.
  - apply one. apply step_start.
  - unfold stop. destruct (pending x s) eqn:H; [|constructor].
    apply one. constructor. auto.
  - apply advance_clock_steps.
  - apply look_steps.
  - apply peek_steps.
  - apply mow_steps. auto.
  - apply work_steps.
  - apply settle_steps.
  - apply advance_steps.
  - apply break_off_steps.
  - apply finish_steps.
  - apply reserve_steps.
Qed.

(* A property of a new lawn that every step preserves always holds. *)

Lemma start_now x d c s : now (start x d c s) = now s.
Proof. unfold start. destruct (place_same (new_timer x d s) c
  (tick_starts (note (Started (new_timer x d s) (negb (pending x s))) (remove x s))))
  as (-> & _). reflexivity. Qed.

Lemma step_now s s' : step s s' -> now s <= LAST -> now s' <= LAST.
Proof. intros H. destruct H; rewrite ?start_now; simpl; auto. lia. Qed.

Lemma steps_now s s' : steps s s' -> now s <= LAST -> now s' <= LAST.
Proof. induction 1; auto. intros. eapply step_now; eauto. Qed.

Theorem reachable_ind (P : lawn -> Prop) :
  (forall t h ways, P (init t h ways)) ->
  (forall s s', step s s' -> now s <= LAST -> P s -> P s') ->
  forall s, reachable s -> P s.
Proof.
  intros Hi Hs s (t & h & ways & l & ->).
  assert (H : forall l s, now s <= LAST -> P s -> P (runs s l)).
  { clear l. induction l as [|o l IH]; simpl; auto. intros s Hl Hp.
    assert (Hr := run_steps o s Hl). apply IH.
    - eapply steps_now; eauto.
    - revert Hl Hp. induction Hr; auto. intros. eapply Hs; eauto.
      eapply steps_now; eauto. }
  apply H; auto. simpl. lia.
Qed.

(* The timer that fires is running. *)
Lemma fires_from_running e t s : fires_from e t s -> In t (running s).
Proof.
  intros [(_ & l1 & l2 & H & _)|(_ & _ & w & b & q & Hn & _ & Hq)].
  - apply in_running. right; left. rewrite H. apply in_or_app. simpl. auto.
  - apply in_running. left. apply in_on_blades. exists b. split.
    + eapply nth_error_In; eauto.
    + rewrite Hq. simpl. auto.
Qed.

(* Settling moves no timer. *)
Lemma settled_queue a b : maybe_settled a b -> queue b = queue a /\ of_ttl b = of_ttl a.
Proof. intros [-> | ->]; auto. Qed.

Lemma settle_on_blades l l' : Forall2 maybe_settled l l' -> on_blades l' = on_blades l.
Proof.
  induction 1 as [|a b l l' H]; simpl; auto.
  apply settled_queue in H. destruct H. congruence.
Qed.

Lemma settle_running s l :
  Forall2 maybe_settled (blades s) l -> running (set_blades l s) = running s.
Proof. intros H. unfold running. simpl. rewrite (settle_on_blades _ _ H). auto. Qed.

Lemma settle_nth l l' w b' : Forall2 maybe_settled l l' ->
  nth_error l' w = Some b' -> exists b, nth_error l w = Some b /\ maybe_settled b b'.
Proof.
  intros H. revert w. induction H; intros [|w]; simpl; try discriminate; eauto.
  intros [= ->]. eauto.
Qed.

(* So does reserving. *)
Lemma reserve_on_blades w b u e l : nth_error l w = Some b -> queue b = [] ->
  on_blades (update w (Blade u e []) l) = on_blades l.
Proof.
  intros Hn Hq. destruct (update_split w (Blade u e []) _ _ Hn) as (l1 & l2 & -> & ->).
  rewrite !on_blades_app. simpl. rewrite Hq. auto.
Qed.

Lemma reserve_running w b u e s : nth_error (blades s) w = Some b -> queue b = [] ->
  running (set_blades (update w (Blade u e []) (blades s)) s) = running s.
Proof.
  intros Hn Hq. unfold running. simpl.
  rewrite (reserve_on_blades _ _ _ _ _ Hn Hq). auto.
Qed.

Lemma take_last_running s x :
  In x (running (take_last s)) <-> In x (running s).
Proof. rewrite !in_running. simpl. rewrite in_app_iff. tauto. Qed.

(* The changes that a start makes. *)
Lemma start_facts x d c s :
  let t := new_timer x d s in
  let s' := start x d c s in
  now s' = now s /\ base s' = base s /\ tuning s' = tuning s /\ mode s' = mode s /\
  starts s' = starts s + 1 /\
  log s' = Started t (negb (pending x s)) :: log s /\
  (forall y, In y (running s') <-> y = t \/ (In y (running s) /\ name y <> x)).
Proof.
  intros t s'. unfold s', start. fold t.
  set (r := tick_starts (note (Started t (negb (pending x s))) (remove x s))).
  destruct (place_same t c r) as (-> & -> & -> & -> & -> & ->).
  repeat split; auto; intros H.
  - apply in_place in H. destruct H as [->|H]; auto. right. apply in_remove. auto.
  - apply in_place. destruct H as [->|H]; auto. right.
    apply (in_remove x s y). auto.
Qed.

(* A timer that is running after a step was running before, or was started by it. *)
Lemma step_running s s' y : step s s' -> In y (running s') ->
  In y (running s) \/ exists x d, y = new_timer x d s.
Proof.
  intros H Hy. destruct H; auto.
  - destruct (start_facts x d c s) as (_ & _ & _ & _ & _ & _ & Hr).
    apply Hr in Hy. destruct Hy as [->|[]]; eauto.
  - left. apply (in_remove x s y) in Hy. tauto.
  - left. apply (take_last_running s y). auto.
  - rewrite settle_running in Hy; auto.
  - left. apply (in_remove (name t) s y) in Hy. tauto.
  - rewrite (reserve_running w b) in Hy; auto.
Qed.
