(* Exactly_once.v - [P3]: each start of an idle timer is followed by one fire or one
   stop, or the timer is still running; and a running timer is in one place. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps.
Import ListNotations.
Open Scope nat_scope.

Definition how_many {A} (f : A -> bool) (l : list A) : nat := length (filter f l).

Definition is_start_of (x : nat) (e : event) : bool :=
  match e with Started t idle => idle && Nat.eqb (name t) x | _ => false end.
Definition is_stop_of (x : nat) (e : event) : bool :=
  match e with Stopped y => Nat.eqb y x | _ => false end.
Definition is_fire_of (x : nat) (e : event) : bool :=
  match e with Fired t _ _ => Nat.eqb (name t) x | _ => false end.
Definition is_of (x : nat) (t : timer) : bool := Nat.eqb (name t) x.

Record once (s : lawn) : Prop := {
  o_apart : NoDup (map name (running s));
  o_count : forall x,
    how_many (is_start_of x) (log s) =
      how_many (is_fire_of x) (log s) + how_many (is_stop_of x) (log s) +
      how_many (is_of x) (running s)
}.

Lemma how_many_perm {A} (f : A -> bool) l1 l2 :
  Permutation l1 l2 -> how_many f l1 = how_many f l2.
Proof.
  unfold how_many. induction 1; simpl; auto.
  - destruct (f x); simpl; auto.
  - destruct (f x), (f y); simpl; auto.
  - congruence.
Qed.

Lemma how_many_drop_same x l : how_many (is_of x) (drop x l) = 0.
Proof.
  unfold how_many, drop, is_of. induction l as [|t l IH]; simpl; auto.
  destruct (Nat.eqb (name t) x) eqn:E; simpl; auto. rewrite E. auto.
Qed.

Lemma how_many_drop_other x y l : x <> y ->
  how_many (is_of y) (drop x l) = how_many (is_of y) l.
Proof.
  intros H. unfold how_many, drop, is_of. induction l as [|t l IH]; simpl; auto.
  destruct (Nat.eqb_spec (name t) x) as [E|E]; simpl; auto.
  - destruct (Nat.eqb_spec (name t) y) as [E'|E']; auto. congruence.
  - destruct (Nat.eqb (name t) y); simpl; auto.
Qed.

Lemma how_many_none x l : (forall t, In t l -> name t <> x) -> how_many (is_of x) l = 0.
Proof.
  unfold how_many, is_of. induction l as [|t l IH]; simpl; auto. intros H.
  destruct (Nat.eqb_spec (name t) x) as [E|E]; auto.
  exfalso. apply (H t); auto.
Qed.

Lemma how_many_one x l t : NoDup (map name l) -> In t l -> name t = x ->
  how_many (is_of x) l = 1.
Proof.
  intros Hn Hi Hx. induction l as [|a l IH]; simpl in *; [destruct Hi|].
  inversion Hn as [|? ? Hni Hn']; subst. unfold how_many, is_of in *. simpl.
  destruct (Nat.eqb_spec (name a) (name t)) as [E|E].
  - simpl. f_equal. apply how_many_none. intros b Hb Hbt. apply Hni.
    rewrite E, <- Hbt. apply in_map. auto.
  - destruct Hi as [->|Hi]; [congruence|]. auto.
Qed.

Lemma nodup_drop x l : NoDup (map name l) -> NoDup (map name (drop x l)).
Proof.
  induction l as [|t l IH]; simpl; auto. intros H. inversion H as [|? ? Hn Hl]; subst.
  destruct (Nat.eqb (name t) x); simpl; auto. constructor; auto.
  intros Hi. apply Hn. apply in_map_iff in Hi. destruct Hi as (a & Ha & Hi).
  apply in_drop in Hi. rewrite <- Ha. apply in_map. tauto.
Qed.

Lemma once_init t h ways : once (init t h ways).
Proof.
  assert (H : running (init t h ways) = []).
  { unfold running. simpl. rewrite app_nil_r. induction ways; simpl; auto. }
  split; rewrite H; simpl; auto. constructor.
Qed.

(* A step that moves no timer and adds no event that counts. *)
Lemma once_quiet s s' : once s -> Permutation (running s') (running s) ->
  (log s' = log s \/ exists u b n f, log s' = Mown u b n f :: log s) -> once s'.
Proof.
  intros [H1 H2] Hp Hl. split.
  - apply (Permutation_NoDup (l := map name (running s))); auto.
    apply Permutation_map. symmetry. auto.
  - intros x. rewrite (how_many_perm _ _ _ Hp).
    destruct Hl as [->|(u & b & n & f & ->)]; apply H2.
Qed.

(* A timer stops running, and an event records it. *)
Lemma once_leave s t : once s -> In t (running s) -> forall e,
  (forall x, is_start_of x e = false) ->
  (forall x, how_many (is_fire_of x) [e] + how_many (is_stop_of x) [e] =
             if Nat.eqb (name t) x then 1 else 0) ->
  NoDup (map name (running (remove (name t) s))) /\
  forall x,
    how_many (is_start_of x) (e :: log s) =
      how_many (is_fire_of x) (e :: log s) + how_many (is_stop_of x) (e :: log s) +
      how_many (is_of x) (running (remove (name t) s)).
Proof.
  intros [H1 H2] Ht e He1 He2. rewrite running_remove. split; [apply nodup_drop; auto|].
  intros x. specialize (H2 x). specialize (He2 x). specialize (He1 x).
  assert (E : forall f : event -> bool,
    how_many f (e :: log s) = how_many f [e] + how_many f (log s)).
  { intros f. unfold how_many. simpl. destruct (f e); auto. }
  rewrite !E. unfold how_many at 1. simpl. rewrite He1. simpl.
  destruct (Nat.eqb_spec (name t) x) as [Ex|Ex].
  - subst x. rewrite how_many_drop_same. rewrite (how_many_one _ _ t) in H2 by auto. lia.
  - rewrite how_many_drop_other by auto. lia.
Qed.

Lemma start_perm x d c s :
  Permutation (running (start x d c s)) (new_timer x d s :: drop x (running s)).
Proof.
  unfold start. set (t := new_timer x d s).
  set (r := tick_starts (note (Started t (negb (pending x s))) (remove x s))).
  rewrite <- running_remove. change (running (remove x s)) with (running r).
  apply place_running.
Qed.

Lemma once_step s s' : step s s' -> once s -> once s'.
Proof.
  intros H Ho. destruct H; try (apply (once_quiet s); auto; fail).
  - (* start *)
    destruct (start_facts x d c s) as (_ & _ & _ & _ & _ & El & _).
    pose proof (start_perm x d c s) as Hp. destruct Ho as [H1 H2].
    split.
    + apply (Permutation_NoDup (l := map name (new_timer x d s :: drop x (running s)))).
      * apply Permutation_map. symmetry. auto.
      * simpl. constructor; [|apply nodup_drop; auto]. intros Hi.
        apply in_map_iff in Hi. destruct Hi as (a & Ha & Hi). apply in_drop in Hi. tauto.
    + intros y. rewrite (how_many_perm _ _ _ Hp), El. specialize (H2 y).
      unfold how_many at 1 4, is_of. simpl.
      unfold how_many at 1 2. simpl. fold (how_many (is_fire_of y) (log s)).
      fold (how_many (is_stop_of y) (log s)).
      destruct (Nat.eqb_spec x y) as [E|E].
      * subst y. simpl. fold (is_of x). change (length (filter (is_of x) (drop x (running s))))
          with (how_many (is_of x) (drop x (running s))).
        rewrite how_many_drop_same.
        destruct (pending x s) eqn:Hx; simpl.
        -- apply pending_spec in Hx. destruct Hx as (t & Ht & Hn).
           rewrite (how_many_one _ _ t) in H2 by auto. unfold how_many in *. lia.
        -- rewrite how_many_none in H2; [unfold how_many in *; lia|].
           intros t Ht Hn. assert (pending x s = true); [|congruence].
           apply pending_spec. eauto.
      * rewrite andb_false_r.
        change (length (filter (fun t => Nat.eqb (name t) y) (drop x (running s))))
          with (how_many (is_of y) (drop x (running s))).
        rewrite how_many_drop_other by auto. exact H2.
  - (* stop *)
    apply pending_spec in H. destruct H as (t & Ht & <-).
    destruct (once_leave s t Ho Ht (Stopped (name t))) as [H1 H2]; auto.
    + intros x. unfold how_many. simpl. destruct (Nat.eqb (name t) x); auto.
    + split; auto.
  - (* a mow that has nothing to do *)
    apply (once_quiet s); auto. right. simpl. eauto 10.
  - (* a mow of the last tick begins *)
    apply (once_quiet s); auto. unfold running. simpl. rewrite app_nil_r. auto.
  - (* settle *)
    apply (once_quiet s); auto. rewrite settle_running; auto.
  - (* fire *)
    apply fires_from_running in H4.
    destruct (once_leave s t Ho H4 (Fired t (until m) (fresh m))) as [O1 O2]; auto.
    + intros x. unfold how_many. simpl. destruct (Nat.eqb (name t) x); auto.
    + split; auto.
  - (* finish *)
    apply (once_quiet s); auto. right. simpl. eauto 10.
  - (* a mow breaks off *)
    apply (once_quiet s); auto. right. simpl. eauto 10.
  - (* reserve *)
    apply (once_quiet s); auto. rewrite (reserve_running w b); auto.
Qed.

Lemma reachable_once s : reachable s -> once s.
Proof.
  revert s. apply reachable_ind; [apply once_init|].
  intros s s' H _. apply once_step. auto.
Qed.

(* [P3], for every timer. lawn_pending() returns whether a timer is running. *)
Theorem exactly_once s : reachable s ->
  NoDup (map name (running s)) /\
  forall x,
    how_many (is_start_of x) (log s) =
      how_many (is_fire_of x) (log s) + how_many (is_stop_of x) (log s) +
      (if pending x s then 1 else 0).
Proof.
  intros H. destruct (reachable_once s H) as [H1 H2]. split; auto.
  intros x. rewrite H2. f_equal. destruct (pending x s) eqn:E.
  - apply pending_spec in E. destruct E as (t & Ht & Hn).
    apply (how_many_one _ _ t); auto.
  - apply how_many_none. intros t Ht Hn. assert (pending x s = true); [|congruence].
    apply pending_spec. eauto.
Qed.
