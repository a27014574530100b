(* Start_stop_total.v - start and stop always succeed and keep all invariants; a
   stopped timer does not fire [P5]; deadlines saturate and never wrap [P9]. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps Never_early Index Exactly_once.
Import ListNotations.
Open Scope N_scope.

(* The start of a timer in the log, if it was neither stopped nor fired nor restarted
   since. *)
Fixpoint newest (x : nat) (l : list event) : option timer :=
  match l with
  | [] => None
  | Started t _ :: l => if Nat.eqb (name t) x then Some t else newest x l
  | Stopped y :: l => if Nat.eqb y x then None else newest x l
  | Fired t _ _ :: l => if Nat.eqb (name t) x then None else newest x l
  | Mown _ _ _ _ :: l => newest x l
  end.

Record logged (s : lawn) : Prop := {
  l_newest : forall t, In t (running s) <-> newest (name t) (log s) = Some t;
  l_fired : forall l1 t u f l2, log s = l1 ++ Fired t u f :: l2 ->
    newest (name t) l2 = Some t
}.

Lemma running_init t h ways : running (init t h ways) = [].
Proof. unfold running. simpl. rewrite app_nil_r. induction ways; simpl; auto. Qed.

Lemma logged_init t h ways : logged (init t h ways).
Proof.
  split.
  - intros x. rewrite running_init. simpl. split; [tauto|discriminate].
  - simpl. intros [|] ? ? ? ?; discriminate.
Qed.

(* A step that moves no timer and adds no event about one. *)
Lemma logged_quiet s s' : logged s ->
  (forall x, In x (running s') <-> In x (running s)) ->
  (log s' = log s \/ exists u b n f, log s' = Mown u b n f :: log s) -> logged s'.
Proof.
  intros [H1 H2] Hr Hl. split.
  - intros t. rewrite Hr, H1. destruct Hl as [->|(u & b & n & f & ->)]; simpl; tauto.
  - destruct Hl as [->|(u & b & n & f & ->)]; auto.
    intros [|e l1] t v g l2 E; [discriminate|]. injection E as _ E. eauto.
Qed.

Lemma logged_leave s x e : logged s ->
  (forall y l, newest y (e :: l) = if Nat.eqb x y then None else newest y l) ->
  (forall t u f, e = Fired t u f -> In t (running s)) ->
  forall s', running s' = running (remove x s) -> log s' = e :: log s -> logged s'.
Proof.
  intros [H1 H2] He Hf s' Er El. split.
  - intros t. rewrite Er, El, He, in_remove, H1.
    destruct (Nat.eqb_spec x (name t)) as [E|E]; [split; [|discriminate]|];
      intuition congruence.
  - rewrite El. intros [|a l1] t u f l2 E; [|injection E as _ E; eauto].
    injection E as -> <-. apply H1. eauto.
Qed.

Lemma logged_step s s' : step s s' -> logged s -> logged s'.
Proof.
  intros H Hl. destruct H; try (apply (logged_quiet s); auto; tauto).
  - (* start *)
    destruct (start_facts x d c s) as (_ & _ & _ & _ & _ & El & Er).
    destruct Hl as [H1 H2]. split.
    + intros t. rewrite Er, El, H1. simpl.
      destruct (Nat.eqb_spec x (name t)) as [E|E].
      * split; [intros [->|[_ Hn]]; congruence|intros [= <-]; auto].
      * split; [intros [->|[Ht _]]|]; auto. simpl in E. congruence.
    + rewrite El. intros [|e l1] t u f l2 E; [discriminate|]. injection E as _ E. eauto.
  - (* stop *)
    apply (logged_leave s x (Stopped x) Hl); auto. discriminate.
  - (* a mow that has nothing to do *)
    apply (logged_quiet s); auto; [tauto|]. right. simpl. eauto 10.
  - (* a mow of the last tick begins *)
    apply (logged_quiet s); auto. intros y. apply (take_last_running s y).
  - (* settle *)
    apply (logged_quiet s); auto. intros y. rewrite settle_running; tauto.
  - (* fire *)
    apply fires_from_running in H4.
    apply (logged_leave s (name t) (Fired t (until m) (fresh m)) Hl); auto.
    intros t' u f [= <- _ _]. auto.
  - (* finish *)
    apply (logged_quiet s); auto; [tauto|]. right. simpl. eauto 10.
  - (* a mow breaks off *)
    apply (logged_quiet s); auto; [tauto|]. right. simpl. eauto 10.
  - (* reserve *)
    apply (logged_quiet s); auto. intros y. rewrite (reserve_running w b); tauto.
Qed.

Lemma reachable_logged s : reachable s -> logged s.
Proof.
  revert s. apply reachable_ind; [apply logged_init|].
  intros s s' H _. apply logged_step. auto.
Qed.

Lemma reachable_run s o : reachable s -> reachable (run s o).
Proof.
  intros (t & h & ways & l & ->). exists t, h, ways, (l ++ [o]).
  unfold runs. rewrite fold_left_app. auto.
Qed.

(* The timer is running with that deadline; for all other timers, whether they run and
   their deadlines are unchanged. *)
Definition started (x : nat) (d : N) (s s' : lawn) : Prop :=
  exists t, name t = x /\ due t = d /\
    forall y, In y (running s') <-> y = t \/ (In y (running s) /\ name y <> x).

Lemma start_started x d c s : now s <= LAST ->
  started x (N.min (now s + N.max d 1) LAST) s (start x d c s).
Proof.
  intros Hl. exists (new_timer x d s).
  destruct (start_facts x d c s) as (_ & _ & _ & _ & _ & _ & Hr).
  split; auto. split; auto. rewrite new_timer_due by auto.
  unfold counted. destruct (N.eqb_spec d 0); f_equal; lia.
Qed.

(* A time is a 64-bit word. *)
Lemma start_at_started x t c s : now s <= LAST -> t < WORD ->
  started x (N.min (N.max t (now s + 1)) LAST) s (start_at x t c s).
Proof.
  intros Hl Ht. unfold start_at.
  replace (N.min (N.max t (now s + 1)) LAST) with
    (N.min (now s + N.max (if now s <? t then minus t (now s) else 0) 1) LAST).
  - apply start_started. auto.
  - destruct (N.ltb_spec (now s) t); [rewrite minus_exact by lia|]; lia.
Qed.

Lemma stop_stopped x s :
  forall y, In y (running (stop x s)) <-> In y (running s) /\ name y <> x.
Proof.
  intros y. unfold stop. destruct (pending x s) eqn:E.
  - apply (in_remove x s y).
  - split; [|tauto]. intros H. split; auto. intros Hn.
    assert (pending x s = true); [|congruence]. apply pending_spec. eauto.
Qed.

Theorem start_stop_total s : reachable s ->
  (* start: any TTL, in any state of the table *)
  (forall x d c, reachable (start x d c s) /\
     started x (N.min (now s + N.max d 1) LAST) s (start x d c s)) /\
  (forall x t c, t < WORD -> reachable (start_at x t c s) /\
     started x (N.min (N.max t (now s + 1)) LAST) s (start_at x t c s)) /\
  (* stop *)
  (forall x, reachable (stop x s) /\
     forall y, In y (running (stop x s)) <-> In y (running s) /\ name y <> x) /\
  (* [P5]: since its start, a timer that fires was neither stopped nor restarted *)
  (forall l1 t u f l2, log s = l1 ++ Fired t u f :: l2 ->
     newest (name t) l2 = Some t) /\
  (* [P9] *)
  now s <= LAST /\ forall t, In t (running s) -> due t <= LAST.
Proof.
  intros H. pose proof (reachable_sound s H) as Hs. pose proof (s_now s Hs) as Hl.
  split; [|split; [|split; [|split; [|split]]]]; auto.
  - intros x d c. split; [apply (reachable_run s (Start x d c)); auto|].
    apply start_started. auto.
  - intros x t c Ht. split; [apply (reachable_run s (StartAt x t c)); auto|].
    apply start_at_started; auto.
  - intros x. split; [apply (reachable_run s (Stop x)); auto|]. apply stop_stopped.
  - apply (l_fired s (reachable_logged s H)).
  - intros t Ht. destruct (s_seen s Hs t (or_introl Ht)) as (-> & _). lia.
Qed.
