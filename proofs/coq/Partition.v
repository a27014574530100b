(* Partition.v - [P4] across mows: if the time to a point is divided into mows in any
   way, with any budgets, the same timers fire, in the same order of deadlines, and
   those of each TTL in the same order. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps Never_early Index Never_forgotten
  Exactly_once Order Start_stop_total.
Import ListNotations.
Open Scope N_scope.

(* Any operations except starts and stops, and no mow beyond a time. *)
Definition only_mows (u : N) (o : op) : Prop :=
  match o with
  | Start _ _ _ | StartAt _ _ _ | Stop _ => False
  | Mow t _ _ _ => t <= u
  | _ => True
  end.

Lemma perm_drop t l : NoDup (map name l) -> In t l ->
  Permutation l (t :: drop (name t) l).
Proof.
  induction l as [|a l IH]; simpl; [tauto|]. intros Hn Hi.
  inversion Hn as [|? ? Hna Hnl]; subst.
  destruct Hi as [->|Hi].
  - rewrite Nat.eqb_refl. simpl. apply Permutation_cons; auto.
    replace (drop (name t) l) with l; auto. clear -Hna. unfold drop.
    induction l as [|b l IH]; simpl; auto.
    destruct (Nat.eqb_spec (name b) (name t)) as [E|E]; simpl in *.
    + exfalso. apply Hna. auto.
    + f_equal. apply IH. tauto.
  - destruct (Nat.eqb_spec (name a) (name t)) as [E|E]; simpl.
    + exfalso. apply Hna. rewrite E. apply in_map. auto.
    + rewrite perm_swap. apply Permutation_cons; auto.
Qed.

(* All running timers and all that have fired. *)
Definition all (s : lawn) : list timer := running s ++ fired (log s).

Definition within (u : N) (s : lawn) : Prop := forall m, mode s = Some m -> until m <= u.

(* Such an operation moves timers from the running ones to the fired ones. *)
Definition mows (u : N) (s s' : lawn) : Prop :=
  Permutation (all s') (all s) /\ within u s' /\
  (forall x, In x (fired (log s)) -> In x (fired (log s'))) /\
  forall x, In x (fired (log s')) -> In x (fired (log s)) \/ due x <= u.

Lemma mows_same u s s' : within u s -> running s' = running s ->
  fired (log s') = fired (log s) -> within u s' -> mows u s s'.
Proof.
  intros Hw Er Ef Hw'. unfold mows, all. rewrite Er, Ef. auto.
Qed.

Lemma mows_fire u m t s : once s -> within u s -> mode s = Some m -> In t (running s) ->
  due t <= until m -> mows u s (fire_timer m t s).
Proof.
  intros Ho Hw Hm Ht Hd. split; [|split; [|split]].
  - unfold all. change (running (fire_timer m t s)) with (running (remove (name t) s)).
    rewrite running_remove. simpl. symmetry.
    rewrite (perm_drop t (running s)) at 1; auto; [|apply (o_apart s Ho)].
    simpl. apply Permutation_middle.
  - intros m' [= <-]. simpl. auto.
  - simpl. auto.
  - simpl. intros x [<-|Hx]; auto. right. specialize (Hw m Hm). lia.
Qed.

Lemma mows_run u s o : now s <= LAST -> once s -> within u s -> only_mows u o ->
  mows u s (run s o).
Proof.
  intros Hl Ho Hw Hq.
  assert (Hsame : mows u s s) by (apply mows_same; auto).
  assert (Hset : forall e, mows u s (set_base e s)) by (intros; apply mows_same; auto).
  assert (Hsettle : forall e w, mows u s (settle w (set_base e s))).
  { intros e w. unfold settle. simpl.
    destruct (nth_error (blades s) w) as [b|] eqn:E; [|auto].
    apply mows_same; auto. apply (settle_running (set_base e s)).
    apply forall2_update. auto. }
  destruct o; simpl in *; try tauto.
  - unfold advance_clock. destruct (now s <? t); [apply mows_same|]; auto.
  - unfold look. destruct (next_stays s); auto.
    pose proof (settle_all_running s) as E.
    destruct (mode s); apply mows_same; auto; try exact E; exact Hw.
  - unfold peek. destruct (mode s); auto. destruct (_ && _); [apply mows_same|]; auto.
  - unfold mow. destruct (mode s) as [m|] eqn:Em; auto.
    assert (Et : running (advance_clock t h s) = running s /\
      log (advance_clock t h s) = log s /\ mode (advance_clock t h s) = None).
    { unfold advance_clock. destruct (now s <? t); auto. }
    destruct Et as (E1 & E2 & E3).
    destruct (_ && _).
    + apply mows_same; auto; simpl; [congruence|]. intros m. simpl. congruence.
    + destruct (LAST <=? t); apply mows_same; auto; simpl; try congruence;
        try (intros m; simpl; intros [= <-]; auto).
      rewrite <- E1. unfold running. simpl. rewrite app_nil_r. auto.
  - unfold work. destruct (mode s) as [m|] eqn:Em; auto.
    destruct (left m =? 0); auto. destruct (first_time s) as [e|]; auto.
    destruct (N.ltb_spec (until m) e) as [|Hu]; auto.
    assert (Hcut : forall t, In t (running s) -> due t <= e ->
      mows u s (fire_timer m t (set_base e s))).
    { intros t Ht Hd. destruct (mows_fire u m t s Ho Hw Em Ht ltac:(lia)) as (A & B & C & D).
      unfold mows; auto. }
    destruct (find (fun t => due t =? e) (unqueued (set_base e s))) as [t|] eqn:Hf.
    + apply find_some in Hf. destruct Hf as [Hin Hd]. apply N.eqb_eq in Hd.
      apply Hcut; [|lia]. apply in_running. auto.
    + unfold work_blade.
      destruct (nth_error (blades (set_base e s)) w) as [b|] eqn:Hn; auto.
      destruct (entry b) as [v|]; auto. destruct (v =? e); auto.
      destruct (queue b) as [|t q] eqn:Hq'; auto.
      destruct (N.ltb_spec e (due t)); auto. apply Hcut; auto.
      apply in_running. left. apply in_on_blades. exists b.
      split; [eapply nth_error_In; eauto|]. rewrite Hq'. simpl. auto.
  - specialize (Hsettle (base s) w). destruct s. exact Hsettle.
  - unfold advance. destruct (mode s); auto. destruct (_ && _); auto.
  - unfold break_off. destruct (mode s) as [m|] eqn:Em; auto. destruct (_ && _); auto.
    apply mows_same; auto. intros m' [=].
  - unfold finish. destruct (mode s) as [m|] eqn:Em; auto.
    assert (Hret : forall b, mows u s (return_with m b s)).
    { intros b. apply mows_same; auto. intros m' [=]. }
    destruct (left m =? 0); auto.
    destruct (first_time s) as [e|]; auto. destruct (until m <? e); auto.
  - unfold reserve. destruct (tuning s); auto.
    destruct (nth_error (blades s) w) as [b|] eqn:Hn; auto.
    destruct (queue b) eqn:Hb; auto. apply mows_same; auto.
    apply (reserve_running w b); auto.
Qed.

Lemma mows_runs u l : forall s, reachable s -> within u s ->
  (forall o, In o l -> only_mows u o) -> reachable (runs s l) /\ mows u s (runs s l).
Proof.
  induction l as [|o l IH]; simpl; intros s Hr Hw Hl.
  - split; auto. apply mows_same; auto.
  - destruct (mows_run u s o (s_now s (reachable_sound s Hr)) (reachable_once s Hr) Hw)
      as (A & B & C & D); auto.
    destruct (IH (run s o)) as (Hr' & A' & B' & C' & D'); auto.
    { apply reachable_run. auto. }
    split; auto. split; [|split; [|split]]; auto.
    + etransitivity; eauto.
    + intros x Hx. destruct (D' x Hx); auto.
Qed.

(* Two ordered permutations of the same elements are equal. *)
Lemma ordered_unique {A} (R : A -> A -> Prop) :
  (forall x y, R x y -> R y x -> x = y) ->
  forall l1 l2, ordered R l1 -> ordered R l2 -> Permutation l1 l2 -> l1 = l2.
Proof.
  intros HR. induction l1 as [|a l1 IH]; intros l2 H1 H2 Hp.
  - apply Permutation_nil in Hp. auto.
  - destruct l2 as [|b l2]; [apply Permutation_sym, Permutation_nil in Hp; discriminate|].
    assert (E : a = b).
    { assert (Ha : In a (b :: l2)) by (apply (Permutation_in _ Hp); simpl; auto).
      assert (Hb : In b (a :: l1))
        by (apply (Permutation_in _ (Permutation_sym Hp)); simpl; auto).
      destruct Ha as [|Ha]; auto. destruct Hb as [|Hb]; auto.
      destruct H1 as [H1 _], H2 as [H2 _]. auto. }
    subst b. f_equal. apply IH; [apply H1|apply H2|].
    apply Permutation_cons_inv in Hp. auto.
Qed.

Lemma ordered_impl {A} (R S : A -> A -> Prop) l :
  (forall x y, In x l -> In y l -> R x y -> S x y) -> ordered R l -> ordered S l.
Proof.
  induction l as [|a l IH]; simpl; auto. intros H [H1 H2]. split; auto.
Qed.

Lemma ordered_map {A B} (f : A -> B) (R : B -> B -> Prop) l :
  ordered (fun x y => R (f x) (f y)) l -> ordered R (map f l).
Proof.
  induction l as [|a l IH]; simpl; auto. intros [H1 H2]. split; auto.
  intros y Hy. apply in_map_iff in Hy. destruct Hy as (x & <- & Hx). auto.
Qed.

Lemma filter_perm {A} (f : A -> bool) l1 l2 :
  Permutation l1 l2 -> Permutation (filter f l1) (filter f l2).
Proof.
  induction 1; simpl; auto.
  - destruct (f x); auto.
  - destruct (f x), (f y); auto. apply perm_swap.
  - etransitivity; eauto.
Qed.

(* The running timers after such operations, when the last mow has reached its time. *)
Lemma partition_left u s l b n f k x : reachable s -> mode s = None -> u < LAST ->
  (forall o, In o l -> only_mows u o) ->
  log (runs s l) = Mown u b n f :: k -> n < b ->
  (In x (running (runs s l)) <-> In x (running s) /\ u < due x).
Proof.
  intros Hr Hm Hu Hl Hlog Hn.
  assert (Hw : within u s) by (intros m; rewrite Hm; discriminate).
  destruct (mows_runs u l s Hr Hw Hl) as (Hr' & Hp & _ & Hk & Hf).
  assert (Hfirst : forall y, In y (fired (log s)) -> In y (running s) -> False).
  { intros y H1 H2. destruct (reachable_right s Hr) as (_ & _ & Ho).
    pose proof (r_first s Ho y y H1 H2 eq_refl). lia. }
  assert (Hin : In x (all (runs s l)) <-> In x (all s)).
  { split; apply Permutation_in; auto. symmetry. auto. }
  unfold all in Hin. rewrite !in_app_iff in Hin.
  destruct (never_forgotten _ Hr') as [Hnf _].
  split.
  - intros Hx. assert (Hd : u < due x).
    { destruct (Hnf _ _ _ _ _ Hlog Hn x Hx) as [|(_ & H & _)]; [auto|lia]. }
    split; auto. destruct (proj1 Hin (or_introl Hx)) as [|Hx']; auto. exfalso.
    destruct (reachable_right _ Hr') as (_ & _ & Ho).
    pose proof (r_first _ Ho x x (Hk x Hx') Hx eq_refl). lia.
  - intros [Hx Hd]. destruct (proj2 Hin (or_introl Hx)) as [|Hx']; auto.
    destruct (Hf x Hx') as [H|H]; [exfalso; eauto|lia].
Qed.

Lemma names_nodup s : reachable s -> NoDup (running s).
Proof.
  intros H. apply (NoDup_map_inv name). apply (o_apart s (reachable_once s H)).
Qed.

(* For any two sequences of mows to a time that both end with a mow to it that returned
   less than its budget: the same timers have fired, and the same are running. *)
Theorem partition s u l1 l2 b1 n1 f1 k1 b2 n2 f2 k2 :
  reachable s -> mode s = None -> u < LAST ->
  (forall o, In o l1 -> only_mows u o) -> (forall o, In o l2 -> only_mows u o) ->
  log (runs s l1) = Mown u b1 n1 f1 :: k1 -> n1 < b1 ->
  log (runs s l2) = Mown u b2 n2 f2 :: k2 -> n2 < b2 ->
  let fired1 := fired (log (runs s l1)) in
  let fired2 := fired (log (runs s l2)) in
  Permutation fired1 fired2 /\ map due fired1 = map due fired2 /\
  (forall d, filter (fun t => ttl t =? d) fired1 = filter (fun t => ttl t =? d) fired2) /\
  Permutation (running (runs s l1)) (running (runs s l2)).
Proof.
  intros Hr Hm Hu H1 H2 E1 N1 E2 N2 fired1 fired2.
  assert (Hw : within u s) by (intros m; rewrite Hm; discriminate).
  destruct (mows_runs u l1 s Hr Hw H1) as (R1 & P1 & _).
  destruct (mows_runs u l2 s Hr Hw H2) as (R2 & P2 & _).
  assert (Hrun : Permutation (running (runs s l1)) (running (runs s l2))).
  { apply NoDup_Permutation; try (apply names_nodup; auto).
    intros x. rewrite (partition_left u s l1 b1 n1 f1 k1 x) by auto.
    rewrite (partition_left u s l2 b2 n2 f2 k2 x) by auto. tauto. }
  assert (Hf : Permutation fired1 fired2).
  { apply (Permutation_app_inv_l (running (runs s l1))).
    change (Permutation (all (runs s l1)) (running (runs s l1) ++ fired2)).
    rewrite Hrun at 1. change (Permutation (all (runs s l1)) (all (runs s l2))).
    etransitivity; [exact P1|symmetry; exact P2]. }
  destruct (reachable_right _ R1) as (_ & _ & O1).
  destruct (reachable_right _ R2) as (_ & _ & O2).
  apply r_log in O1. apply r_log in O2. fold fired1 in O1. fold fired2 in O2.
  split; [|split; [|split]]; auto.
  - apply (ordered_unique (fun a b => b <= a)).
    + intros x y. lia.
    + apply ordered_map. eapply ordered_impl; [|exact O1]. intros x y _ _ [H _]. auto.
    + apply ordered_map. eapply ordered_impl; [|exact O2]. intros x y _ _ [H _]. auto.
    + apply Permutation_map. auto.
  - intros d. apply (ordered_unique (fun a b => stamp b < stamp a)).
    + intros x y. lia.
    + apply (ordered_impl in_turn); [|apply ordered_filter; auto].
      intros x y Hx Hy [_ H]. apply filter_In in Hx, Hy. apply H.
      destruct Hx as [_ Hx], Hy as [_ Hy]. apply N.eqb_eq in Hx, Hy. congruence.
    + apply (ordered_impl in_turn); [|apply ordered_filter; auto].
      intros x y Hx Hy [_ H]. apply filter_In in Hx, Hy. apply H.
      destruct Hx as [_ Hx], Hy as [_ Hy]. apply N.eqb_eq in Hx, Hy. congruence.
    + apply filter_perm. auto.
Qed.
