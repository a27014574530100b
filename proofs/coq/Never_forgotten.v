(* Never_forgotten.v - [P2]: a mow that returns less than its budget leaves no due
   timer; lawn_next_exact() is exact, and lawn_next() never after it; and [P6]: a mow does not fire timers that are
   started while it runs. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps Never_early Index.
Import ListNotations.
Open Scope N_scope.

(* Timers in the index, as opposed to those that wait for the last tick. *)
Definition in_index (s : lawn) (x : timer) : Prop :=
  In x (on_blades (blades s)) \/ In x (unqueued s).

(* The timers that a mow to a time leaves: those due later, and, at the last tick,
   those started during the mow. *)
Definition left_over (u f : N) (x : timer) : Prop :=
  u < due x \/ (due x = LAST /\ LAST <= u /\ f <= stamp x).

Record mowed (s : lawn) : Prop := {
  m_count : forall m, mode s = Some m ->
    fresh m <= starts s /\ left m <= budget m /\
    fires s = before m + (budget m - left m);
  m_new : forall m x, mode s = Some m -> in_index s x -> fresh m <= stamp x ->
    until m < due x;
  m_last : forall m x, mode s = Some m -> In x (last s) -> LAST <= until m ->
    fresh m <= stamp x;
  m_fired : forall x u f, In (Fired x u f) (log s) -> stamp x < f;
  m_mown : forall u b n f l, log s = Mown u b n f :: l -> n < b ->
    forall x, In x (running s) -> left_over u f x
}.

Lemma mowed_init t h ways : mowed (init t h ways).
Proof. split; simpl; try discriminate; tauto. Qed.

(* The place of a timer after its start. *)
Lemma place_where t c s x :
  (in_index (place t c s) x -> in_index s x \/ (x = t /\ due t <> LAST)) /\
  (In x (last (place t c s)) -> In x (last s) \/ (x = t /\ due t = LAST)).
Proof.
  unfold in_index.
  destruct (place_cases t c s)
    as [[Hd ->]|[(Hd & _ & ->)|(Hd & w & b & Hn & _ & Hb & ->)]].
  - unfold put_last. rewrite lower_bound_eq. simpl. split; auto.
    intros H. apply in_app_or in H. destruct H as [|[<-|[]]]; auto.
  - unfold put_unqueued. rewrite lower_bound_eq. simpl. split; auto.
    intros [H|H]; auto. apply in_app_or in H. destruct H as [|[<-|[]]]; auto.
  - destruct (put_blade_eq w t s b Hn) as (u & v & -> & _). simpl. split; auto.
    intros [H|H]; auto. apply in_on_blades in H. destruct H as (a & Ha & Hx).
    apply in_update in Ha. destruct Ha as [->|Ha].
    + simpl in Hx. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; auto.
      left; left. apply in_on_blades. exists b. split; auto.
      eapply nth_error_In; eauto.
    + left; left. apply in_on_blades. eauto.
Qed.

Lemma start_where x d c s y :
  let t := new_timer x d s in
  (in_index (start x d c s) y -> in_index s y \/ (y = t /\ due t <> LAST)) /\
  (In y (last (start x d c s)) -> In y (last s) \/ (y = t /\ due t = LAST)).
Proof.
  intros t. unfold start. fold t.
  set (r := tick_starts (note (Started t (negb (pending x s))) (remove x s))).
  destruct (place_where t c r y) as [H1 H2]. split; intros H.
  - destruct (H1 H) as [Hr|]; auto. left. unfold in_index, r in *. simpl in Hr.
    rewrite on_blades_drop, !in_drop in Hr. tauto.
  - destruct (H2 H) as [Hr|]; auto. left. unfold r in *. simpl in Hr.
    rewrite in_drop in Hr. tauto.
Qed.

(* A new timer is due after the time of the current mow, or waits for the last tick. *)
Lemma new_timer_later x d s m : now s <= LAST -> N.min (until m) LAST <= now s ->
  due (new_timer x d s) <> LAST -> until m < due (new_timer x d s).
Proof.
  intros Hl Hu. rewrite new_timer_due by auto. pose proof (counted_pos d). lia.
Qed.

(* A step that neither starts a timer, fires one, nor begins a mow. *)
Lemma mowed_quiet s s' : mowed s ->
  mode s' = mode s -> starts s' = starts s -> log s' = log s ->
  (forall x, In x (running s') -> In x (running s)) ->
  (forall x, in_index s' x -> in_index s x) ->
  (forall x, In x (last s') -> In x (last s)) -> mowed s'.
Proof.
  intros [H1 H2 H3 H4 H5] Em Es El Hr Hi Hl. split.
  - intros m Hm. unfold fires. rewrite Es, El. apply H1. congruence.
  - intros m x Hm Hx. apply (H2 m x); auto. congruence.
  - intros m x Hm Hx. apply (H3 m x); auto. congruence.
  - rewrite El. auto.
  - intros u b n f l E Hn x Hx. rewrite El in E. eapply H5; eauto.
Qed.

Lemma in_index_remove x s y : in_index (remove x s) y -> in_index s y.
Proof.
  unfold in_index. simpl. rewrite on_blades_drop, !in_drop. tauto.
Qed.

Lemma index_due s x u : indexed s -> in_index s x ->
  (forall v, In v (times s) -> u < v) -> u < due x.
Proof.
  intros Hi [Hx|Hx] Hu.
  - apply in_on_blades in Hx. destruct Hx as (b & Hb & Hx).
    destruct (i_head s Hi _ _ Hb Hx) as (v & Hv & Hle).
    assert (u < v); [|lia]. apply Hu. apply in_times. right. apply in_entries. eauto.
  - apply Hu. apply in_times. eauto.
Qed.

(* A mow that ends before its budget is used up has left no due timer. *)
Lemma ends_with_nothing m b s x : indexed s -> mowed s -> mode s = Some m ->
  ends_with m b s -> 0 < left m -> In x (running s) ->
  left_over (until m) (fresh m) x.
Proof.
  intros Hi Hm Em He Hl Hx. unfold left_over. apply in_running in Hx.
  assert (Hu : forall v, In v (times s) -> until m < v).
  { intros v Hv. destruct He as [(H & _)|[(_ & H & He)|(_ & He & _)]]; [lia| |].
    - pose proof (first_le _ _ _ He Hv). lia.
    - apply least_none in He. rewrite He in Hv. destruct Hv. }
  destruct Hx as [Hx|[Hx|Hx]].
  - left. apply (index_due s); auto. left. auto.
  - left. apply (index_due s); auto. right. auto.
  - destruct (i_last s Hi x Hx) as [-> _].
    destruct (N.lt_ge_cases (until m) LAST); auto.
    right. repeat split; auto. eapply m_last; eauto.
Qed.

Lemma mowed_step s s' : step s s' -> sound s -> indexed s -> mowed s -> mowed s'.
Proof.
  intros H Hs Hi Hm. pose proof (s_now s Hs) as Hl.
  destruct H; try (apply (mowed_quiet s); auto; fail).
  - (* start *)
    destruct (start_facts x d c s) as (En & _ & _ & Em & Es & El & Er).
    destruct Hm as [H1 H2 H3 H4 H5]. split.
    + intros m Hm. rewrite Em in Hm. apply H1 in Hm. unfold fires. rewrite Es, El.
      simpl. fold (fires s). intuition lia.
    + intros m y Hm Hy Hf. rewrite Em in Hm.
      apply (proj1 (start_where x d c s y)) in Hy.
      destruct Hy as [Hy|[-> Hd]]; [eapply H2; eauto|].
      apply new_timer_later; auto. apply (i_until s Hi m Hm).
    + intros m y Hm Hy Hu. rewrite Em in Hm.
      apply (proj2 (start_where x d c s y)) in Hy.
      destruct Hy as [Hy|[-> Hd]]; [eapply H3; eauto|].
      simpl. apply (H1 m Hm).
    + intros y u f Hy. rewrite El in Hy. destruct Hy as [|Hy]; [discriminate|eauto].
    + intros u b n f l E. rewrite El in E. discriminate.
  - (* stop *)
    destruct Hm as [H1 H2 H3 H4 H5]. split; simpl.
    + intros m Hm. apply H1 in Hm. auto.
    + intros m y Hm Hy. apply (H2 m y); auto. apply (in_index_remove x). auto.
    + intros m y Hm Hy. apply in_drop in Hy. destruct Hy. eauto.
    + intros y u f [Hy|Hy]; [discriminate|eauto].
    + discriminate.
  - (* a mow that has nothing to do *)
    destruct Hm as [H2 H3 H4 H5 H6]. split; simpl; auto.
    + intros y u f [Hy|Hy]; [discriminate|eauto].
    + intros u b' n f l [= -> -> <- <- <-] Hn x Hx. left.
      pose proof (bound_le_due s x Hi Hx). lia.
  - (* a mow begins *)
    destruct Hm as [H2 H3 H4 H5 H6]. split; simpl; eauto.
    + intros m [= <-]. simpl. unfold fires. simpl. lia.
    + intros m x [= <-] Hx. simpl. assert (Hr : In x (running s)).
      { apply in_running. destruct Hx; auto. }
      assert (stamp x < starts s) by (apply (s_seen s Hs x); left; auto). lia.
    + intros m x [= <-] _. simpl. lia.
  - (* a mow of the last tick begins *)
    destruct Hm as [H2 H3 H4 H5 H6]. split; simpl; eauto.
    + intros m [= <-]. simpl. unfold fires. simpl. lia.
    + intros m x [= <-] Hx. simpl. assert (Hr : In x (running s)).
      { apply (take_last_running s x). apply in_running. destruct Hx; auto. }
      assert (stamp x < starts s) by (apply (s_seen s Hs x); left; auto). lia.
    + intros m x _ [].
    + intros u b' n f l E Hn x Hx. apply (H6 u b' n f l E Hn).
      apply (take_last_running s x). auto.
  - (* settle *)
    apply (mowed_quiet s); auto.
    + intros x. rewrite settle_running; auto.
    + unfold in_index. simpl. rewrite (settle_on_blades _ _ H). auto.
  - (* fire *)
    pose proof (fire_due _ _ _ H4) as Hd.
    assert (Ht : in_index s t).
    { destruct H4 as [(_ & l1 & l2 & Hl' & _)|(_ & _ & w & b & q & Hn & _ & Hq)].
      - right. rewrite Hl'. apply in_or_app. simpl. auto.
      - left. apply in_on_blades. exists b. split; [eapply nth_error_In; eauto|].
        rewrite Hq. simpl. auto. }
    destruct Hm as [M1 M2 M3 M4 M5]. split; simpl.
    + intros m' [= <-]. simpl. apply M1 in H. unfold fires in *. simpl length.
      intuition lia.
    + intros m' x [= <-] Hx. simpl. apply M2; auto.
      apply (in_index_remove (name t)). auto.
    + intros m' x [= <-] Hx. simpl. apply in_drop in Hx. destruct Hx. eauto.
    + intros x u f [Hx|Hx]; [|eauto]. injection Hx as -> _ <-.
      destruct (N.lt_ge_cases (stamp x) (fresh m)); auto.
      pose proof (M2 m x H Ht ltac:(auto)). lia.
    + discriminate.
  - (* finish *)
    destruct (m_count s Hm m H) as (_ & Hc & _).
    pose proof (fun y => ends_with_nothing m b s y Hi Hm H H0) as Hn.
    destruct Hm as [M1 M2 M3 M4 M5]. split; simpl; try discriminate.
    + intros x u f [Hx|Hx]; [discriminate|eauto].
    + intros u b' n f l [= <- <- <- <- <-] Hb x Hx. apply Hn; auto. lia.
  - (* a mow breaks off: it returns its budget *)
    destruct Hm as [M1 M2 M3 M4 M5]. split; simpl; try discriminate.
    + intros x u f [Hx|Hx]; [discriminate|eauto].
    + intros u b' n f l [= <- <- <- <- <-] Hb. lia.
  - (* reserve *)
    apply (mowed_quiet s); auto.
    + intros x. rewrite (reserve_running w b); auto.
    + unfold in_index. simpl. rewrite (reserve_on_blades w b); auto.
Qed.

Theorem reachable_mowed s : reachable s -> sound s /\ indexed s /\ mowed s.
Proof.
  revert s. apply (reachable_ind (fun s => sound s /\ indexed s /\ mowed s)).
  - split; [|split]; [apply sound_init|apply indexed_init|apply mowed_init].
  - intros s s' H Hl (H1 & H2 & H3). split; [|split].
    + eapply sound_step; eauto.
    + eapply indexed_step; eauto.
    + eapply mowed_step; eauto.
Qed.

(* [P2] for lawn_next(). *)
Definition exact (n : N) (l : list timer) : Prop :=
  (forall x, In x l -> n <= due x) /\
  (l <> [] -> exists x, In x l /\ due x = n) /\
  (l = [] -> n = NEVER).

Lemma heads_running s x : In x (heads s) -> In x (running s).
Proof.
  unfold heads, running. rewrite !in_app_iff. intros [H|H]; auto. left.
  apply in_flat_map in H. destruct H as (b & Hb & Hx). apply in_on_blades.
  exists b. split; auto. destruct (queue b); simpl in *; intuition.
Qed.

Lemma settle_all_running s : running (settle_all s) = running s.
Proof. apply settle_running. apply forall2_map. Qed.

Lemma exact_some n l : (forall x, In x l -> n <= due x) ->
  (exists x, In x l /\ due x = n) -> exact n l.
Proof.
  intros H1 (x & Hx & Hd). split; [auto|split; eauto].
  intros ->. destruct Hx.
Qed.

Lemma next_look_exact s : indexed s -> exact (next_look s) (running s).
Proof.
  intros Hi. rewrite <- settle_all_running. unfold next_look.
  assert (Hi' : indexed (settle_all s)) by (apply indexed_settle, forall2_map; auto).
  change (last s) with (last (settle_all s)).
  assert (Hs : forall b, In b (blades (settle_all s)) -> exists a, b = settled a).
  { simpl. intros b Hb. apply in_map_iff in Hb. destruct Hb as (a & <- & _). eauto. }
  set (r := settle_all s) in *. clearbody r.
  destruct (first_time r) as [e|] eqn:He.
  - apply exact_some.
    + intros x Hx. apply in_running in Hx. destruct Hx as [Hx|[Hx|Hx]].
      * apply in_on_blades in Hx. destruct Hx as (b & Hb & Hx).
        destruct (i_head r Hi' _ _ Hb Hx) as (v & Hv & Hle).
        assert (e <= v); [|lia]. apply (first_le r); auto.
        apply in_times. right. apply in_entries. eauto.
      * apply (first_le r); auto. apply in_times. eauto.
      * destruct (i_last r Hi' x Hx) as [-> _]. eapply first_last; eauto.
    + apply least_in in He. apply in_times in He.
      destruct He as [(t & Ht & <-)|He].
      * exists t. split; auto. apply in_running. auto.
      * apply in_entries in He. destruct He as (b & Hb & Ht).
        destruct (Hs _ Hb) as (a & ->). simpl in *.
        destruct (queue a) as [|t q] eqn:Hq; [discriminate|]. injection Ht as <-.
        exists t. split; auto. apply in_running. left. apply in_on_blades.
        exists (settled a). split; auto. simpl. rewrite Hq. simpl. auto.
  - apply least_none in He. unfold times in He. apply app_eq_nil in He.
    destruct He as [Hl Ht]. apply map_eq_nil in Hl.
    assert (Hb : on_blades (blades r) = []).
    { destruct (on_blades (blades r)) as [|x l] eqn:E; auto. exfalso.
      assert (Hx : In x (on_blades (blades r))) by (rewrite E; simpl; auto).
      apply in_on_blades in Hx. destruct Hx as (b & Hb & Hx).
      destruct (i_head r Hi' _ _ Hb Hx) as (v & Hv & _).
      assert (Hin : In v (entries (blades r))) by (apply in_entries; eauto).
      rewrite Ht in Hin. destruct Hin. }
    pose proof (i_last r Hi') as Hla.
    unfold running. rewrite Hb, Hl. simpl. destruct (last r) as [|t l].
    + split; [intros x []|split; congruence].
    + apply exact_some.
      * intros x Hx. destruct (Hla x Hx) as [-> _]. lia.
      * exists t. split; [simpl; auto|]. apply Hla. simpl. auto.
Qed.

Lemma next_exact s : indexed s -> exact (next s) (running s).
Proof.
  intros Hi. unfold next. destruct (next_stays s) eqn:E; [|apply next_look_exact; auto].
  unfold next_stays in E. apply existsb_exists in E. destruct E as (x & Hx & Hd).
  apply N.eqb_eq in Hd. apply exact_some.
  - intros y. apply bound_le_due. auto.
  - exists x. split; auto. apply heads_running. auto.
Qed.

(* [P2]. The newest event of the log is the mow's return. *)
Theorem never_forgotten s : reachable s ->
  (forall u b n f l, log s = Mown u b n f :: l -> n < b ->
     forall x, In x (running s) ->
       u < due x \/ (due x = LAST /\ LAST <= u /\ f <= stamp x)) /\
  exact (next s) (running s) /\
  (* lawn_next(), if it may not examine all entries: the bound that it sets *)
  (forall t x, In x (running s) -> bound (peek t s) <= due x).
Proof.
  intros H. destruct (reachable_mowed s H) as (Hs & Hi & Hm). split; [|split].
  - apply (m_mown s Hm).
  - apply next_exact. auto.
  - intros t x Hx.
    assert (Hr : reachable (run s (Peek t))).
    { destruct H as (t0 & h & ways & l & ->). exists t0, h, ways, (l ++ [Peek t]).
      unfold runs. rewrite fold_left_app. reflexivity. }
    destruct (reachable_mowed _ Hr) as (_ & Hi' & _). simpl in Hi'.
    apply (bound_le_due _ x Hi'). unfold peek. destruct (mode s); auto.
    destruct (_ && _); auto.
Qed.
