(* Wheel.v - unqueued timers in the slots of the index [P4]: whatever moves down, one
   timer at a time, timers of one deadline stay in the order of their starts. So they
   can be one list, as in Model.v.

   A slot has several numbered lists. A wheel is a function: it returns the list with
   a level, a slot and a number. From the code: insert is insert_unqueued() and
   index_last_tick(), and take is lawn__list_remove() of any timer; move is
   move_timer(), with the last timer of a list, which becomes the first of the other;
   front is the change that scan_list() and note_early_timer() make; pass is
   lawn__index_set_base(). proofs/cbmc proves of move_timer() that it passes no slot
   with timers of the deadline. *)

From Coq Require Import NArith List Bool Arith Lia.
From Lawn Require Import Model Basics Digits.
Import ListNotations.
Open Scope N_scope.

Section Wheel.

Variable bits : N.
Hypothesis bits_pos : 0 < bits.
Variable levels : nat.
Variable hash : N -> N.      (* lawn__index_list_of() *)

Definition wheel := nat -> N -> N -> list timer.

Definition place_of (l : nat) (d : N) : N := slot bits (N.of_nat l) d.
Definition reached (l : nat) (base d : N) : Prop := reaches bits (N.of_nat l) base d.

Definition set (w : wheel) (l : nat) (s q : N) (x : list timer) : wheel :=
  fun l' s' q' => if Nat.eqb l' l && (s' =? s) && (q' =? q) then x else w l' s' q'.

Definition is_at (d : N) (t : timer) : bool := due t =? d.
(* The timers of a deadline: on a level, and on all levels, the highest first. *)
Definition at_level (w : wheel) (d : N) (l : nat) : list timer :=
  filter (is_at d) (w l (place_of l d) (hash d)).
Fixpoint chain (w : wheel) (d : N) (n : nat) : list timer :=
  match n with
  | O => []
  | S n => at_level w d n ++ chain w d n
  end.

(* [I4] *)
Definition placed (base : N) (w : wheel) : Prop :=
  forall l s q t, In t (w l s q) ->
    (l < levels)%nat /\ s = place_of l (due t) /\ q = hash (due t) /\
    base <= due t /\ reached l base (due t).

(* The wheel contains the timers of a list, those of each deadline in its order. *)
Definition holds (w : wheel) (u : list timer) : Prop :=
  forall d, chain w d levels = filter (is_at d) u.

Inductive turn : N * wheel * list timer -> N * wheel * list timer -> Prop :=
| insert base w u l t : (l < levels)%nat -> base <= due t ->
    reached l base (due t) -> (forall k, (k < l)%nat -> ~ reached k base (due t)) ->
    turn (base, w, u)
      (base, set w l (place_of l (due t)) (hash (due t))
               (w l (place_of l (due t)) (hash (due t)) ++ [t]), u ++ [t])
| take base w u x :
    turn (base, w, u) (base, fun l s q => drop x (w l s q), drop x u)
| move base w u k l s q t r : w k s q = r ++ [t] -> (l < k)%nat ->
    reached l base (due t) ->
    (forall j, (l < j < k)%nat -> at_level w (due t) j = []) ->
    turn (base, w, u)
      (base, let w := set w k s q r in
             set w l (place_of l (due t)) (hash (due t))
               (t :: w l (place_of l (due t)) (hash (due t))), u)
| front base w u l s q r1 t r2 : w l s q = r1 ++ t :: r2 ->
    (forall x, In x r1 -> due x <> due t) ->
    turn (base, w, u) (base, set w l s q (t :: r1 ++ r2), u)
| pass base base' w u : base <= base' ->
    (forall l s q t, In t (w l s q) -> base' <= due t) ->
    turn (base, w, u) (base', w, u).

Lemma is_at_true d t : is_at d t = true <-> due t = d.
Proof. apply N.eqb_eq. Qed.

Lemma at_set w l s q x d k : at_level (set w l s q x) d k =
  if Nat.eqb k l && (place_of k d =? s) && (hash d =? q)
  then filter (is_at d) x else at_level w d k.
Proof. unfold at_level, set. destruct (_ && _); auto. Qed.

Lemma chain_same w w' d n : (forall k, (k < n)%nat -> at_level w' d k = at_level w d k) ->
  chain w' d n = chain w d n.
Proof.
  induction n as [|n IH]; simpl; auto. intros H. rewrite H by lia. f_equal. apply IH.
  intros k Hk. apply H. lia.
Qed.

Lemma chain_none w d n : (forall k, (k < n)%nat -> at_level w d k = []) ->
  chain w d n = [].
Proof.
  induction n as [|n IH]; simpl; auto. intros H. rewrite H by lia. apply IH.
  intros k Hk. apply H. lia.
Qed.

Lemma chain_insert w w' d l t n : (l < n)%nat ->
  at_level w' d l = at_level w d l ++ [t] ->
  (forall k, k <> l -> at_level w' d k = at_level w d k) ->
  (forall k, (k < l)%nat -> at_level w d k = []) ->
  chain w' d n = chain w d n ++ [t].
Proof.
  intros Hl E Hs Hn. induction n as [|n IH]; [lia|]. simpl.
  destruct (Nat.eq_dec n l) as [->|Hne].
  - rewrite E, (chain_same w w'), (chain_none w); [rewrite !app_nil_r; auto|auto|].
    intros k Hk. apply Hs. lia.
  - rewrite Hs, IH, app_assoc by lia. auto.
Qed.

(* A timer moves from the end of a level to the front of a lower one. *)
Lemma chain_below w w' d l t n : (l < n)%nat ->
  at_level w' d l = t :: at_level w d l ->
  (forall k, (k < n)%nat -> k <> l -> at_level w' d k = at_level w d k) ->
  (forall k, (l < k < n)%nat -> at_level w d k = []) ->
  chain w' d n = t :: chain w d n.
Proof.
  intros Hl E Hs Hn. induction n as [|n IH]; [lia|]. simpl.
  destruct (Nat.eq_dec n l) as [->|Hne].
  - rewrite E. simpl. do 2 f_equal. apply chain_same. intros k Hk. apply Hs; lia.
  - rewrite Hs, (Hn n) by lia. simpl. apply IH; [lia| |].
    + intros k Hk. apply Hs. lia.
    + intros k Hk. apply Hn. lia.
Qed.

Lemma chain_move w w' d k l r t n : (l < k < n)%nat ->
  at_level w d k = r ++ [t] -> at_level w' d k = r ->
  at_level w' d l = t :: at_level w d l ->
  (forall j, j <> k -> j <> l -> at_level w' d j = at_level w d j) ->
  (forall j, (l < j < k)%nat -> at_level w d j = []) ->
  chain w' d n = chain w d n.
Proof.
  intros Hl E E' El Hs Hn. induction n as [|n IH]; [lia|]. simpl.
  destruct (Nat.eq_dec n k) as [->|Hne].
  - rewrite E, E', (chain_below w w' d l t k); auto; try lia.
    + rewrite <- app_assoc. auto.
    + intros j Hj Hjl. apply Hs; lia.
  - rewrite Hs by lia. f_equal. apply IH. lia.
Qed.

(* The lists of other deadlines do not change. *)
Lemma filter_other d x (l1 l2 : list timer) : due x <> d ->
  filter (is_at d) (l1 ++ x :: l2) = filter (is_at d) (l1 ++ l2).
Proof.
  intros H. rewrite !filter_app. simpl. unfold is_at at 2.
  destruct (N.eqb_spec (due x) d); [congruence|]. auto.
Qed.

Lemma filter_drop d x l : filter (is_at d) (drop x l) = drop x (filter (is_at d) l).
Proof.
  unfold drop. induction l as [|t l IH]; simpl; auto.
  destruct (Nat.eqb (name t) x) eqn:E1, (is_at d t) eqn:E2; simpl;
    rewrite ?E1, ?E2; simpl; rewrite ?IH; auto.
Qed.

Lemma chain_drop w x d n :
  chain (fun l s q => drop x (w l s q)) d n = drop x (chain w d n).
Proof.
  induction n as [|n IH]; simpl; auto. rewrite IH, drop_app. f_equal.
  unfold at_level. apply filter_drop.
Qed.

Lemma none_below base w d k : placed base w -> ~ reached k base d -> at_level w d k = [].
Proof.
  intros Hp Hr. unfold at_level.
  destruct (filter (is_at d) (w k (place_of k d) (hash d))) as [|t r] eqn:E; auto.
  exfalso. assert (Ht : In t (filter (is_at d) (w k (place_of k d) (hash d))))
    by (rewrite E; simpl; auto).
  apply filter_In in Ht. destruct Ht as [Ht Hd]. apply is_at_true in Hd.
  apply Hp in Ht. rewrite Hd in Ht. tauto.
Qed.

Lemma at_set_here w l d x : at_level (set w l (place_of l d) (hash d) x) d l =
  filter (is_at d) x.
Proof. rewrite at_set, Nat.eqb_refl, !N.eqb_refl. auto. Qed.

Lemma at_set_level w l s q x d k : k <> l ->
  at_level (set w l s q x) d k = at_level w d k.
Proof. intros H. rewrite at_set. destruct (Nat.eqb_spec k l); [congruence|auto]. Qed.

(* A change of a list that keeps the timers of a deadline. *)
Lemma at_set_keeps w l s q x d k :
  filter (is_at d) x = filter (is_at d) (w l s q) ->
  at_level (set w l s q x) d k = at_level w d k.
Proof.
  intros H. rewrite at_set. destruct (Nat.eqb_spec k l) as [->|]; auto.
  destruct (N.eqb_spec (place_of l d) s) as [<-|]; auto.
  destruct (N.eqb_spec (hash d) q) as [<-|]; auto.
Qed.

Lemma in_set w l s q x l' s' q' (t : timer) : In t (set w l s q x l' s' q') ->
  (l' = l /\ s' = s /\ q' = q /\ In t x) \/ In t (w l' s' q').
Proof.
  unfold set. destruct (Nat.eqb_spec l' l); simpl; auto.
  destruct (N.eqb_spec s' s); simpl; auto. destruct (N.eqb_spec q' q); simpl; auto.
Qed.

Ltac cases H :=
  inversion H; subst; clear H;
  try match goal with E : _ _ _ _ = _ ++ _ |- _ => rename E into Hw end;
  try match goal with E : forall l s q t, In t _ -> _ |- _ => rename E into Hall end;
  try match goal with E : forall x, In x _ -> due x <> _ |- _ => rename E into Hr1 end.

Lemma turn_placed base w u base' w' u' : turn (base, w, u) (base', w', u') ->
  placed base w -> placed base' w'.
Proof.
  intros H. cases H; intros Hp a s' q' y Hy.
  - apply in_set in Hy. destruct Hy as [(-> & -> & -> & Hy)|Hy]; auto.
    apply in_app_or in Hy. destruct Hy as [Hy|[<-|[]]]; auto.
  - apply in_drop in Hy. destruct Hy. auto.
  - apply in_set in Hy. destruct Hy as [(-> & -> & -> & [<-|Hy])|Hy].
    + destruct (Hp k s q t) as (P1 & P2 & P3 & P4 & P5).
      { rewrite Hw. apply in_or_app. simpl. auto. }
      repeat split; auto. lia.
    + apply in_set in Hy. destruct Hy as [(-> & -> & -> & Hy)|Hy]; auto.
      apply Hp. rewrite Hw. apply in_or_app. auto.
    + apply in_set in Hy. destruct Hy as [(-> & -> & -> & Hy)|Hy]; auto.
      apply Hp. rewrite Hw. apply in_or_app. auto.
  - apply in_set in Hy. destruct Hy as [(-> & -> & -> & Hy)|Hy]; auto.
    apply Hp. rewrite Hw. apply in_or_app. simpl in *.
    destruct Hy as [<-|Hy]; auto. apply in_app_or in Hy. tauto.
  - pose proof (Hall _ _ _ _ Hy) as Hd. apply Hp in Hy.
    destruct Hy as (P1 & P2 & P3 & P4 & P5). repeat split; auto.
    apply (reaches_later bits bits_pos _ base); auto.
Qed.

Lemma turn_holds base w u base' w' u' : turn (base, w, u) (base', w', u') ->
  placed base w -> holds w u -> holds w' u'.
Proof.
  intros H. cases H; intros Hp Hh d; auto.
  - rewrite filter_app. simpl. destruct (is_at d t) eqn:Hd.
    + apply is_at_true in Hd. subst d. rewrite <- Hh. apply (chain_insert _ _ _ l); auto.
      * rewrite at_set_here, filter_app. simpl. unfold is_at at 2. rewrite N.eqb_refl. auto.
      * intros k Hk. apply at_set_level. auto.
      * intros k Hk. apply (none_below base'); auto.
    + rewrite app_nil_r, <- Hh. apply chain_same. intros k _. apply at_set_keeps.
      rewrite filter_app. simpl. rewrite Hd, app_nil_r. auto.
  - rewrite chain_drop, Hh, filter_drop. auto.
  - destruct (Hp k s q t) as (P1 & P2 & P3 & P4 & P5).
    { rewrite Hw. apply in_or_app. simpl. auto. }
    subst s q. rewrite <- Hh. destruct (N.eq_dec d (due t)) as [->|Hd].
    + apply (chain_move _ _ _ k l (filter (is_at (due t)) r) t); auto.
      * unfold at_level. rewrite Hw, filter_app. simpl. unfold is_at at 2.
        rewrite N.eqb_refl. auto.
      * rewrite at_set_level by lia. apply at_set_here.
      * rewrite at_set_here. simpl. unfold is_at at 1. rewrite N.eqb_refl. f_equal.
        change (filter (is_at (due t)) (set w k (place_of k (due t)) (hash (due t)) r l
          (place_of l (due t)) (hash (due t)))) with
          (at_level (set w k (place_of k (due t)) (hash (due t)) r) (due t) l).
        apply at_set_level. lia.
      * intros j J1 J2. rewrite !at_set_level by auto. auto.
    + apply chain_same. intros j _. rewrite at_set_keeps.
      * apply at_set_keeps. rewrite Hw, filter_app. simpl. unfold is_at at 3.
        destruct (N.eqb_spec (due t) d); [congruence|]. rewrite app_nil_r. auto.
      * simpl. unfold is_at at 1. destruct (N.eqb_spec (due t) d); [congruence|]. auto.
  - rewrite <- Hh. apply chain_same. intros k _. apply at_set_keeps. rewrite Hw.
    change (t :: r1 ++ r2) with ([t] ++ r1 ++ r2). rewrite !filter_app. simpl.
    destruct (is_at d t) eqn:Hd; auto. simpl.
    replace (filter (is_at d) r1) with (@nil timer); auto. symmetry.
    apply is_at_true in Hd. subst d. clear -Hr1. induction r1 as [|a r IH]; auto. simpl.
    destruct (N.eqb_spec (due a) (due t)) as [E|E].
    + exfalso. apply (Hr1 a); simpl; auto.
    + unfold is_at at 1. destruct (N.eqb_spec (due a) (due t)); [congruence|].
      apply IH. intros x Hx. apply Hr1. simpl. auto.
Qed.

Inductive turns : N * wheel * list timer -> N * wheel * list timer -> Prop :=
| turns_none x : turns x x
| turns_more x y z : turns x y -> turn y z -> turns x z.

(* From an empty wheel, by any number of turns: the wheel contains the timers of the
   list, and those of each deadline in its order. So if all timers of a tick have
   moved down to level 0, the first of their list there is the one that the model
   fires. *)
Theorem wheel_order base0 base w u :
  turns (base0, fun _ _ _ => [], []) (base, w, u) ->
  (forall d, chain w d levels = filter (fun t => due t =? d) u) /\
  (forall t, In t u <-> exists l s q, In t (w l s q)) /\
  (forall d, (forall l, (0 < l)%nat -> at_level w d l = []) -> (0 < levels)%nat ->
     hd_error (at_level w d 0) = find (fun t => due t =? d) u).
Proof.
  intros H.
  assert (Hi : placed base w /\ holds w u).
  { remember (base0, fun _ _ _ => [], []) as x. remember (base, w, u) as y.
    revert base w u Heqy. induction H as [x|x y z H IH Ht]; intros base w u ->.
    - injection Heqx as -> -> ->. split.
      + intros l s q t [].
      + intros d. simpl. apply chain_none. auto.
    - destruct y as [[b v] o]. destruct (IH Heqx b v o eq_refl) as (H1 & H2).
      split; [eapply turn_placed|eapply turn_holds]; eauto. }
  destruct Hi as (Hp & Hh). split; [exact Hh|]. split.
  - intros t. split.
    + intros Ht. assert (Hc : In t (chain w (due t) levels)).
      { rewrite Hh. apply filter_In. split; auto. apply is_at_true. auto. }
      clear -Hc. induction levels as [|n IH]; simpl in Hc; [destruct Hc|].
      apply in_app_or in Hc. destruct Hc as [Hc|Hc]; auto.
      apply filter_In in Hc. destruct Hc. eauto.
    + intros (l & s & q & Ht). destruct (Hp _ _ _ _ Ht) as (P1 & P2 & P3 & _).
      assert (Hc : In t (chain w (due t) levels)).
      { subst s q. clear -Ht P1. induction levels as [|n IH]; [lia|]. simpl.
        apply in_or_app. destruct (Nat.eq_dec l n) as [->|].
        - left. apply filter_In. split; auto. apply is_at_true. auto.
        - right. apply IH. lia. }
      rewrite Hh in Hc. apply filter_In in Hc. tauto.
  - intros d Hn Hl.
    assert (E : chain w d levels = at_level w d 0).
    { clear -Hn Hl. induction levels as [|n IH]; [lia|]. simpl.
      destruct n as [|n]; [simpl; apply app_nil_r|]. rewrite (Hn (S n)) by lia.
      apply IH. lia. }
    rewrite <- E, Hh. clear. induction u as [|t u IH]; simpl; auto. unfold is_at at 1.
    destruct (due t =? d); auto.
Qed.

End Wheel.
