(* Index.v - the invariants I1, I3, I4, I6 and I9 of src/core/internal.h: they
   always hold. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps Never_early.
Import ListNotations.
Open Scope N_scope.

(* The order of a blade's timers [I1]. *)
Definition in_line (x y : timer) : Prop := due x <= due y /\ stamp x < stamp y.

Record indexed (s : lawn) : Prop := {
  (* [I9] *)
  i_base : base s <= now s;
  i_until : forall m, mode s = Some m ->
    bound s = 0 /\ N.min (until m) LAST <= now s;
  (* [I4], [I6] *)
  i_entry : forall b u, In b (blades s) -> entry b = Some u ->
    base s <= u /\ bound s <= u /\ u <= LAST;
  (* [I3] *)
  i_head : forall b x, In b (blades s) -> In x (queue b) ->
    exists u, entry b = Some u /\ u <= due x;
  (* [I1] *)
  i_blade : forall b x, In b (blades s) -> In x (queue b) ->
    of_ttl b = Some (ttl x) /\ due x < LAST;
  i_line : forall b, In b (blades s) -> ordered in_line (queue b);
  (* [I4], [I6] *)
  i_unqueued : forall x, In x (unqueued s) ->
    base s <= due x /\ bound s <= due x /\ due x <= LAST;
  i_last : forall x, In x (last s) -> due x = LAST /\ bound s <= LAST
}.

Lemma indexed_init t h ways : indexed (init t h ways).
Proof.
  assert (H : forall b, In b (repeat (Blade None None []) ways) ->
    b = Blade None None []) by (intros b Hb; apply repeat_spec in Hb; auto).
  split; simpl; try tauto; try lia; try discriminate;
    intros b; intros; try (match goal with H1 : In b _ |- _ => apply H in H1 end;
      subst b; simpl in *; try discriminate; tauto).
Qed.

Lemma indexed_remove x s : indexed s -> indexed (remove x s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8]. split; simpl; auto.
  - intros b u Hb. apply in_map_iff in Hb. destruct Hb as (a & <- & Ha). simpl. eauto.
  - intros b y Hb. apply in_map_iff in Hb. destruct Hb as (a & <- & Ha). simpl.
    rewrite in_drop. intros [Hy _]. eauto.
  - intros b y Hb. apply in_map_iff in Hb. destruct Hb as (a & <- & Ha). simpl.
    rewrite in_drop. intros [Hy _]. eauto.
  - intros b Hb. apply in_map_iff in Hb. destruct Hb as (a & <- & Ha). simpl.
    apply ordered_filter. auto.
  - intros y Hy. apply in_drop in Hy. destruct Hy. eauto.
  - intros y Hy. apply in_drop in Hy. destruct Hy. eauto.
Qed.

(* The condition under which place is called. *)
Definition fits (t : timer) (s : lawn) : Prop :=
  now s <= LAST /\ began t = now s /\ 1 <= ttl t /\
  due t = N.min (now s + ttl t) LAST /\
  forall y, In y (running s) ->
    due y = N.min (began y + ttl y) LAST /\ began y <= now s /\ stamp y < stamp t.

Lemma indexed_put_blade w b t s : indexed s -> fits t s -> due t <> LAST ->
  nth_error (blades s) w = Some b ->
  of_ttl b = Some (ttl t) \/ queue b = [] ->
  indexed (put_blade w t s).
Proof.
  intros Hi (F1 & F2 & F3 & F4 & F5) Hd Hn Hb.
  destruct (put_blade_eq w t s b Hn) as (u & v & -> & Huv).
  pose proof (nth_error_In _ _ Hn) as Hin.
  destruct Hi as [H1 H2 H3 H4 H5 H6 H7 H8].
  assert (Hv : v <= bound s) by (destruct Huv as [(_ & _ & ->)|(_ & _ & ->)]; lia).
  assert (Hq : forall x, In x (queue b) ->
    ttl x = ttl t /\ due x <= due t /\ stamp x < stamp t).
  { intros x Hx. assert (Hr : In x (running s)).
    { apply in_running. left. apply in_on_blades. eauto. }
    apply F5 in Hr. destruct Hb as [Hb|Hb]; [|rewrite Hb in Hx; destruct Hx].
    destruct (H5 _ _ Hin Hx) as [Hx1 Hx2].
    assert (ttl x = ttl t) by congruence. intuition lia. }
  split; simpl; auto.
  - intros m Hm. destruct (H2 _ Hm). split; auto. lia.
  - intros c z Hc Hz. apply in_update in Hc. destruct Hc as [->|Hc].
    + simpl in Hz. injection Hz as <-.
      destruct Huv as [(Ht & Hu & ->)|(Ht & -> & ->)]; [eauto|lia].
    + destruct (H3 _ _ Hc Hz). intuition lia.
  - intros c x Hc Hx. apply in_update in Hc. destruct Hc as [->|Hc]; eauto.
    simpl in *. exists u. split; auto. apply in_app_or in Hx.
    destruct Hx as [Hx|[<-|[]]]; [|destruct Huv as [|(_ & -> & _)]; lia].
    destruct (H4 _ _ Hin Hx) as (u' & Hu' & Hle).
    destruct Huv as [(Ht & Hu & _)|(Ht & -> & _)]; [congruence|].
    apply Ht in Hu'. lia.
  - intros c x Hc Hx. apply in_update in Hc. destruct Hc as [->|Hc]; eauto.
    simpl in *. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]].
    + destruct (Hq _ Hx) as (-> & _). split; auto. eapply H5; eauto.
    + split; auto. lia.
  - intros c Hc. apply in_update in Hc. destruct Hc as [->|Hc]; auto. simpl.
    apply ordered_app. split; auto. split; [simpl; tauto|].
    intros x y Hx [<-|[]]. apply Hq in Hx. unfold in_line. tauto.
  - intros x Hx. apply H7 in Hx. intuition lia.
  - intros x Hx. apply H8 in Hx. intuition lia.
Qed.

Lemma indexed_bound v s : indexed s -> v <= bound s -> indexed (set_bound v s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] Hv. split; simpl; auto.
  - intros m Hm. destruct (H2 _ Hm). split; auto. lia.
  - intros b u Hb Hu. destruct (H3 _ _ Hb Hu). intuition lia.
  - intros x Hx. apply H7 in Hx. intuition lia.
  - intros x Hx. apply H8 in Hx. intuition lia.
Qed.

Lemma indexed_place t c s : indexed s -> fits t s -> indexed (place t c s).
Proof.
  intros Hi Ht. pose proof Ht as (F1 & F2 & F3 & F4 & F5).
  destruct (place_cases t c s)
    as [[Hd ->]|[(Hd & _ & ->)|(Hd & w & b & Hn & _ & Hb & ->)]].
  - unfold put_last. rewrite lower_bound_eq. simpl.
    assert (Hi' := indexed_bound (N.min (bound s) LAST) s Hi ltac:(lia)).
    destruct Hi' as [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
    simpl. intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; auto.
    split; auto. lia.
  - unfold put_unqueued. rewrite lower_bound_eq. simpl.
    assert (Hi' := indexed_bound (N.min (bound s) (due t)) s Hi ltac:(lia)).
    pose proof (i_base s Hi).
    destruct Hi' as [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
    simpl. intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; auto.
    lia.
  - apply (indexed_put_blade w b); auto. tauto.
Qed.

Lemma indexed_note e s : indexed s -> indexed (note e s).
Proof. intros [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto. Qed.

Lemma start_fits x d e s : sound s ->
  fits (new_timer x d s) (tick_starts (note e (remove x s))).
Proof.
  intros [S1 S2 S3]. unfold fits. simpl. repeat split; auto.
  - apply counted_pos.
  - apply after_exact. auto.
  - apply (in_remove x s y) in H. apply (S2 y). left. tauto.
  - apply (in_remove x s y) in H. apply (S2 y). left. tauto.
  - apply (in_remove x s y) in H. apply (S2 y). left. tauto.
Qed.

Lemma indexed_start x d c s : sound s -> indexed s -> indexed (start x d c s).
Proof.
  intros Hs Hi. unfold start. apply indexed_place; [|apply start_fits; auto].
  apply (indexed_remove x) in Hi. destruct Hi as [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
Qed.

(* The base moves to a time that is not after anything in the index. *)
Lemma indexed_base e s : indexed s -> e <= now s ->
  (forall u, In u (times s) -> e <= u) -> indexed (set_base e s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] He Hu. split; simpl; auto.
  - intros b u Hb Ht. destruct (H3 _ _ Hb Ht). split; auto. apply Hu.
    apply in_times. right. apply in_entries. eauto.
  - intros x Hx. destruct (H7 _ Hx). split; auto. apply Hu. apply in_times. eauto.
Qed.

Lemma first_le s e u : first_time s = Some e -> In u (times s) -> e <= u.
Proof. apply least_le. Qed.

Lemma first_last s e : indexed s -> first_time s = Some e -> e <= LAST.
Proof.
  intros Hi He. apply least_in in He. apply in_times in He.
  destruct He as [(t & Ht & <-)|He].
  - apply (i_unqueued s Hi t Ht).
  - apply in_entries in He. destruct He as (b & Hb & Hu). eapply i_entry; eauto.
Qed.

(* Only a blade with a running head is settled to an entry. *)
Lemma indexed_settle s l : indexed s -> Forall2 maybe_settled (blades s) l ->
  indexed (set_blades l s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] Hl.
  assert (Hin : forall b, In b l -> exists a, In a (blades s) /\ maybe_settled a b).
  { intros b Hb. apply In_nth_error in Hb. destruct Hb as [w Hw].
    destruct (settle_nth _ _ _ _ Hl Hw) as (a & Ha & Hab). exists a. split; auto.
    eapply nth_error_In; eauto. }
  split; simpl; auto.
  - intros b u Hb Hu. destruct (Hin _ Hb) as (a & Ha & [->| ->]); eauto.
    simpl in Hu. destruct (queue a) as [|t q] eqn:Hq; [discriminate|].
    injection Hu as <-. assert (Ht : In t (queue a)) by (rewrite Hq; simpl; auto).
    destruct (H4 _ _ Ha Ht) as (v & Hv & Hle). destruct (H3 _ _ Ha Hv).
    destruct (H5 _ _ Ha Ht). intuition lia.
  - intros b x Hb Hx. destruct (Hin _ Hb) as (a & Ha & [->| ->]); eauto.
    simpl in *. assert (Ho := H6 _ Ha). destruct (queue a) as [|t q]; [destruct Hx|].
    exists (due t). split; auto. destruct Hx as [->|Hx]; [lia|].
    destruct Ho as [Ho _]. apply Ho in Hx. destruct Hx. auto.
  - intros b x Hb Hx. destruct (Hin _ Hb) as (a & Ha & Hab).
    apply settled_queue in Hab. destruct Hab as [Eq ->]. rewrite Eq in Hx. eauto.
  - intros b Hb. destruct (Hin _ Hb) as (a & Ha & Hab).
    apply settled_queue in Hab. destruct Hab as [-> _]. auto.
Qed.

(* A reserved blade has no timers; it keeps its entry. *)
Lemma indexed_reserve w b t s : indexed s -> nth_error (blades s) w = Some b ->
  queue b = [] ->
  indexed (set_blades (update w (Blade (Some t) (entry b) []) (blades s)) s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] Hn Hq. pose proof (nth_error_In _ _ Hn) as Hin.
  split; simpl; auto.
  - intros c u Hc Hu. apply in_update in Hc. destruct Hc as [->|Hc]; [|eauto].
    simpl in Hu. eauto.
  - intros c x Hc Hx. apply in_update in Hc. destruct Hc as [->|Hc]; [destruct Hx|eauto].
  - intros c x Hc Hx. apply in_update in Hc. destruct Hc as [->|Hc]; [destruct Hx|eauto].
  - intros c Hc. apply in_update in Hc. destruct Hc as [->|Hc]; [simpl; auto|auto].
Qed.

Lemma indexed_take_last s : indexed s -> now s = LAST -> indexed (take_last s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] Hn. split; simpl; auto; [|tauto].
  intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; auto.
  apply H8 in Hx. intuition lia.
Qed.

(* A new bound is not after the index or the timers of the last tick. *)
Lemma indexed_set_bound v s : indexed s -> mode s = None ->
  (forall u, In u (times s) -> v <= u) -> (last s <> [] -> v <= LAST) ->
  indexed (set_bound v s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] Hm Hu Hl. split; simpl; auto.
  - intros m. rewrite Hm. discriminate.
  - intros b u Hb Ht. destruct (H3 _ _ Hb Ht). intuition.
    apply Hu. apply in_times. right. apply in_entries. eauto.
  - intros x Hx. destruct (H7 _ Hx). intuition. apply Hu. apply in_times. eauto.
  - intros x Hx. destruct (H8 _ Hx). split; auto. apply Hl.
    intros E. rewrite E in Hx. destruct Hx.
Qed.

Lemma indexed_mode m s : indexed s -> N.min (until m) LAST <= now s ->
  indexed (set_bound 0 (set_mode (Some m) s)).
Proof.
  intros Hi Hu. apply (indexed_bound 0) in Hi; [|lia].
  destruct Hi as [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
  simpl. intros m' [= <-]. auto.
Qed.

Lemma base_le_times s u : indexed s -> In u (times s) -> base s <= u.
Proof.
  intros Hi Hu. apply in_times in Hu. destruct Hu as [(t & Ht & <-)|Hu].
  - apply (i_unqueued s Hi t Ht).
  - apply in_entries in Hu. destruct Hu as (b & Hb & Hu). eapply i_entry; eauto.
Qed.

(* [I6]: the bound after a mow is not after any timer. *)
Lemma ends_with_bound m b s : indexed s -> now s <= LAST -> ends_with m b s ->
  (forall u, In u (times s) -> b <= u) /\ (last s <> [] -> b <= LAST).
Proof.
  intros Hi Hl [(_ & ->)|[(_ & _ & He)|(_ & He & ->)]].
  - split; intros.
    + apply base_le_times; auto.
    + pose proof (i_base s Hi). lia.
  - split; intros.
    + eapply first_le; eauto.
    + eapply first_last; eauto.
  - apply least_none in He. rewrite He. split; [intros u []|].
    destruct (last s); [congruence|]. lia.
Qed.

Lemma next_look_settled s : (forall b, In b (blades s) -> settled b = b) ->
  settle_all s = s.
Proof.
  intros H. unfold settle_all.
  assert (E : map settled (blades s) = blades s).
  { induction (blades s) as [|b l IH]; simpl in *; auto. rewrite IH, H; auto. }
  rewrite E. destruct s. auto.
Qed.

Lemma indexed_step s s' : step s s' -> sound s -> indexed s -> indexed s'.
Proof.
  intros H Hs Hi. pose proof (s_now s Hs) as Hl. destruct H.
  - apply indexed_start; auto.
  - apply indexed_note. apply indexed_remove. auto.
  - destruct Hi as [H1 H2 H3 H4 H5 H6 H7 H8]. split; simpl; auto; [lia|].
    intros m Hm. apply H2 in Hm. intuition lia.
  - apply indexed_note. auto.
  - apply indexed_mode; auto.
  - apply indexed_mode; auto. apply indexed_take_last; auto. lia.
  - apply indexed_base; auto.
    + destruct (i_until s Hi _ H). pose proof (first_last _ _ Hi H0). lia.
    + intros u. apply first_le. auto.
  - apply indexed_base; auto.
  - apply indexed_settle; auto.
  - apply indexed_note. apply (indexed_remove (name t)) in Hi.
    pose proof (i_until _ Hi m H) as Hu.
    destruct Hi as [I1 I2 I3 I4 I5 I6 I7 I8]. split; auto.
    simpl. intros m' [= <-]. auto.
  - destruct (ends_with_bound _ _ _ Hi Hl H0). apply indexed_note.
    apply indexed_set_bound; auto.
    destruct Hi as [I1 I2 I3 I4 I5 I6 I7 I8]. split; auto. simpl. discriminate.
  - apply indexed_note. apply indexed_set_bound; auto.
    destruct Hi as [I1 I2 I3 I4 I5 I6 I7 I8]. split; auto. simpl. discriminate.
  - apply indexed_set_bound; auto.
  - apply indexed_set_bound; auto; unfold next_look;
      rewrite next_look_settled by auto; destruct (first_time s) as [e|] eqn:He.
    + intros u. apply first_le. auto.
    + apply least_none in He. rewrite He. intros u [].
    + intros _. eapply first_last; eauto.
    + destruct (last s); [congruence|]. lia.
  - eapply indexed_reserve; eauto.
Qed.

Theorem reachable_indexed s : reachable s -> indexed s.
Proof.
  intros H. enough (sound s /\ indexed s) by tauto. revert s H.
  apply (reachable_ind (fun s => sound s /\ indexed s)).
  - split; [apply sound_init|apply indexed_init].
  - intros s s' H Hl [H1 H2]. split.
    + eapply sound_step; eauto.
    + eapply indexed_step; eauto.
Qed.

(* No running timer is due before the base or before the bound. *)
Lemma base_le_due s x : indexed s -> now s <= LAST -> In x (running s) -> base s <= due x.
Proof.
  intros Hi Hl Hx. apply in_running in Hx. destruct Hx as [Hx|[Hx|Hx]].
  - apply in_on_blades in Hx. destruct Hx as (b & Hb & Hx).
    destruct (i_head s Hi _ _ Hb Hx) as (u & Hu & Hle).
    destruct (i_entry s Hi _ _ Hb Hu). lia.
  - apply (i_unqueued s Hi x Hx).
  - destruct (i_last s Hi x Hx) as [-> _]. pose proof (i_base s Hi). lia.
Qed.

Lemma bound_le_due s x : indexed s -> In x (running s) -> bound s <= due x.
Proof.
  intros Hi Hx. apply in_running in Hx. destruct Hx as [Hx|[Hx|Hx]].
  - apply in_on_blades in Hx. destruct Hx as (b & Hb & Hx).
    destruct (i_head s Hi _ _ Hb Hx) as (u & Hu & Hle).
    destruct (i_entry s Hi _ _ Hb Hu) as (_ & H & _). lia.
  - apply (i_unqueued s Hi x Hx).
  - destruct (i_last s Hi x Hx) as [-> H]. auto.
Qed.
