(* Never_early.v - [P1]: a timer fires only in a mow whose time is not before its
   deadline, and the deadline is the clock at its start plus its TTL. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps.
Import ListNotations.
Open Scope N_scope.

(* A timer that is running, or that has fired. *)
Definition seen (s : lawn) (x : timer) : Prop :=
  In x (running s) \/ exists u f, In (Fired x u f) (log s).

Record sound (s : lawn) : Prop := {
  s_now : now s <= LAST;
  s_seen : forall x, seen s x ->
    due x = N.min (began x + ttl x) LAST /\ 1 <= ttl x /\ began x <= now s /\
    stamp x < starts s;
  s_fired : forall x u f, In (Fired x u f) (log s) -> due x <= u
}.

Lemma sound_init t h ways : sound (init t h ways).
Proof.
  split; simpl; try lia; try tauto.
  intros x [H|(u & f & [])]. exfalso. unfold running in H. simpl in H.
  rewrite app_nil_r in H.
  induction ways; simpl in *; auto.
Qed.

(* A step that starts no timer and fires none. *)
Lemma sound_quiet s s' : sound s -> now s <= now s' -> now s' <= LAST ->
  starts s' = starts s ->
  (forall x, In x (running s') -> In x (running s)) ->
  (forall x u f, In (Fired x u f) (log s') -> In (Fired x u f) (log s)) ->
  sound s'.
Proof.
  intros [H1 H2 H3] Hn Hl Hs Hr Hf. split; auto.
  - intros x Hx. rewrite Hs.
    assert (H : seen s x).
    { destruct Hx as [Hx|(u & f & Hx)]; [left; auto|right; eauto]. }
    apply H2 in H. intuition lia.
  - intros x u f Hx. eauto.
Qed.

Lemma new_timer_due x d s : now s <= LAST ->
  due (new_timer x d s) = N.min (now s + counted d) LAST.
Proof. intros H. simpl. apply after_exact. auto. Qed.

Lemma fire_due e t s : fires_from e t s -> due t <= e.
Proof. intros [(-> & _)|(H & _)]; auto. lia. Qed.

Lemma sound_step s s' : step s s' -> now s <= LAST -> sound s -> sound s'.
Proof.
  intros H Hl Hs. pose proof (fun y => step_running _ _ y H) as Hr.
  destruct H; try (apply (sound_quiet s); simpl; auto; try lia;
    try (intros y u' f' [Hy|Hy]; [discriminate|auto]); fail).
  - (* start *)
    destruct (start_facts x d c s) as (En & _ & _ & _ & Es & El & Er).
    destruct Hs as [H1 H2 H3]. split.
    + rewrite En. auto.
    + intros y Hy. rewrite En, Es.
      assert (Hy' : y = new_timer x d s \/ seen s y).
      { destruct Hy as [Hy|(u & f & Hy)].
        - apply Er in Hy. destruct Hy as [->|[Hy _]]; auto. right. left. auto.
        - rewrite El in Hy. destruct Hy as [|Hy]; [discriminate|].
          right. right. eauto. }
      destruct Hy' as [->|Hy'].
      * rewrite new_timer_due by auto. simpl. pose proof (counted_pos d). lia.
      * apply H2 in Hy'. intuition lia.
    + intros y u f Hy. rewrite El in Hy. destruct Hy as [|Hy]; [discriminate|]. eauto.
  - (* stop *)
    apply (sound_quiet s); simpl; auto; try lia.
    + intros y Hy. apply (in_remove x s y) in Hy. tauto.
    + intros y u f [Hy|Hy]; [discriminate|auto].
  - (* the timers of the last tick move into the index *)
    apply (sound_quiet s); simpl; auto; try lia.
    intros y Hy. apply (take_last_running s y). auto.
  - (* settle *)
    apply (sound_quiet s); simpl; auto; try lia.
    intros y Hy. rewrite settle_running in Hy; auto.
  - (* fire *)
    pose proof (fires_from_running _ _ _ H4) as Ht. pose proof (fire_due _ _ _ H4) as Hd.
    destruct Hs as [S1 S2 S3]. split; auto.
    + intros y Hy. apply S2. destruct Hy as [Hy|(u & f & [Hy|Hy])].
      * left. apply (in_remove (name t) s y) in Hy. tauto.
      * injection Hy as -> _ _. left. auto.
      * right. eauto.
    + intros y u f [Hy|Hy]; [|eauto]. injection Hy as -> <- _. lia.
  - (* reserve *)
    apply (sound_quiet s); simpl; auto; try lia.
    intros y Hy. rewrite (reserve_running w b) in Hy; auto.
Qed.

Theorem reachable_sound s : reachable s -> sound s.
Proof.
  intros H. revert s H. apply reachable_ind.
  - apply sound_init.
  - apply sound_step.
Qed.

(* [P1]. The deadline is not before the clock at the start plus the TTL, unless that
   sum is beyond the last tick. *)
Theorem never_early s : reachable s ->
  forall x u f, In (Fired x u f) (log s) ->
    due x <= u /\ due x = N.min (began x + ttl x) LAST.
Proof.
  intros H x u f Hf. pose proof (reachable_sound s H) as Hs. split.
  - eapply s_fired; eauto.
  - apply (s_seen s Hs x). right. eauto.
Qed.
