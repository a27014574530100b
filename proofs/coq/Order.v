(* Order.v - [P4]: timers fire in the order of their deadlines, within and across
   mows, and those of one TTL in the order in which they were started.

   The second half is the reason why a mow fires unqueued timers before blades, why
   find_or_claim_blade() looks for the blade of a TTL before it claims a free one, why
   the tuning changes only when the clock moves, and why blades are reserved only while
   they are bypassed: see r_found. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model Basics Steps Never_early Index.
Import ListNotations.
Open Scope N_scope.

Fixpoint fired (l : list event) : list timer :=
  match l with
  | [] => []
  | Fired t _ _ :: l => t :: fired l
  | _ :: l => fired l
  end.

Lemma in_fired x l : In x (fired l) <-> exists u f, In (Fired x u f) l.
Proof.
  induction l as [|e l IH]; simpl.
  - split; [tauto|intros (u & f & [])].
  - destruct e; simpl; rewrite ?IH; split;
      try (intros (u & f & H); exists u, f; auto; fail);
      try (intros (u & f & [H|H]); [discriminate|eauto]; fail).
    + intros [->|(u & f & H)]; eauto.
    + intros (u & f & [H|H]); [injection H as -> _ _; auto|eauto].
Qed.

(* y may fire after x. *)
Definition in_turn (y x : timer) : Prop :=
  due x <= due y /\ (ttl x = ttl y -> stamp x < stamp y).

Record right (s : lawn) : Prop := {
  (* Of two timers, the one started first was started at an earlier or equal clock. *)
  r_mono : forall x y, seen s x -> seen s y -> stamp x <= stamp y ->
    began x <= began y;
  r_unqueued : ordered (fun x y => due x = due y -> stamp x < stamp y) (unqueued s ++ last s);
  (* Of one TTL and deadline, unqueued timers were started before those on a blade. *)
  r_mixed : forall x y, In x (unqueued s) -> In y (on_blades (blades s)) ->
    ttl x = ttl y -> due x = due y -> stamp x < stamp y;
  (* Timers of one TTL and deadline that are on blades are on one blade. [I8] *)
  r_apart : forall w v a b x y, nth_error (blades s) w = Some a ->
    nth_error (blades s) v = Some b -> w <> v -> In x (queue a) -> In y (queue b) ->
    ttl x = ttl y -> due x <> due y;
  (* For timers started since the clock moved, that blade is found again. *)
  r_found : forall w b x, nth_error (blades s) w = Some b -> In x (queue b) ->
    began x = now s -> find_blade s (ttl x) (due x) = Some w;
  r_log : ordered in_turn (fired (log s));
  r_base : forall x, In x (fired (log s)) -> due x <= base s;
  r_first : forall x y, In x (fired (log s)) -> In y (running s) -> ttl x = ttl y ->
    stamp x < stamp y
}.

Lemma nth_repeat {A} (a b : A) n w : nth_error (repeat a n) w = Some b -> b = a.
Proof. intros H. apply nth_error_In in H. apply repeat_spec in H. auto. Qed.

Lemma right_init t h ways : right (init t h ways).
Proof.
  split; simpl; try tauto.
  - intros x y [H|(u & f & [])]. exfalso. unfold running in H. simpl in H.
    rewrite app_nil_r in H. induction ways; simpl in *; auto.
  - intros w v a b x y Ha. apply nth_repeat in Ha. subst a. simpl. tauto.
  - intros w b x Ha. apply nth_repeat in Ha. subst b. simpl. tauto.
Qed.

(* find_blade reads nothing but the TTLs of the blades. *)
Lemma find_ext {A} (f g : A -> bool) l : (forall x, In x l -> f x = g x) -> find f l = find g l.
Proof.
  induction l as [|a l IH]; simpl; auto. intros H. rewrite (H a) by auto.
  destruct (g a); auto.
Qed.

Lemma has_ttl_map f l t w : (forall b, of_ttl (f b) = of_ttl b) ->
  has_ttl (map f l) t w = has_ttl l t w.
Proof.
  intros H. unfold has_ttl. rewrite nth_error_map.
  destruct (nth_error l w); simpl; auto. rewrite H. auto.
Qed.

Lemma find_remove x s t d : find_blade (remove x s) t d = find_blade s t d.
Proof.
  unfold find_blade. simpl. apply find_ext. intros w _. apply has_ttl_map. auto.
Qed.

Lemma has_ttl_settle l l' t w : Forall2 maybe_settled l l' ->
  has_ttl l' t w = has_ttl l t w.
Proof.
  intros H. unfold has_ttl. revert w. induction H as [|a b l l' Hab H IH]; intros [|w];
    simpl; auto. apply settled_queue in Hab. destruct Hab as [_ ->]. auto.
Qed.

Lemma seen_remove x s y : seen (remove x s) y -> seen s y.
Proof.
  intros [H|H]; [left|right; auto]. apply (in_remove x s y) in H. tauto.
Qed.

Lemma right_remove x s : right s -> right (remove x s).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
  - intros a b Ha Hb. apply H1; eapply seen_remove; eauto.
  - simpl. rewrite <- drop_app. apply ordered_filter. auto.
  - simpl. intros a b Ha Hb. rewrite on_blades_drop in Hb. apply in_drop in Ha, Hb.
    apply H3; tauto.
  - simpl. intros w v a b y z Ha Hb Hw Hy Hz.
    apply nth_map_inv in Ha, Hb. destruct Ha as (a' & Ha & ->), Hb as (b' & Hb & ->).
    simpl in *. apply in_drop in Hy, Hz. apply (H4 w v a' b'); tauto.
  - intros w b y Hb Hy Hn. rewrite find_remove. simpl in Hb.
    apply nth_map_inv in Hb. destruct Hb as (b' & Hb & ->). simpl in Hy.
    apply in_drop in Hy. apply (H5 w b'); tauto.
  - intros a b Ha Hb. apply H8; auto. apply (in_remove x s b) in Hb. tauto.
Qed.

(* The new timer was started after all others. *)
Definition youngest (t : timer) (s : lawn) : Prop :=
  forall y, seen s y -> began y <= began t /\ stamp y < stamp t.

Lemma find_has s t d w : find_blade s t d = Some w -> has_ttl (blades s) t w = true.
Proof. intros H. apply find_some in H. tauto. Qed.

Lemma has_ttl_update w b l t v : v <> w \/ (exists a, nth_error l w = Some a /\ of_ttl a = of_ttl b) ->
  has_ttl (update w b l) t v = has_ttl l t v.
Proof.
  intros H. unfold has_ttl. destruct (Nat.eq_dec v w) as [->|Hv].
  - destruct H as [|(a & Ha & Hab)]; [congruence|]. rewrite nth_update_same, Ha, Hab; auto.
    apply nth_error_Some. congruence.
  - rewrite nth_update_other by auto. auto.
Qed.

Lemma find_first f w (l : list nat) :
  find f l = None -> In w l -> find (fun v => Nat.eqb v w || f v) l = Some w.
Proof.
  induction l as [|a l IH]; simpl; [tauto|]. intros Hf Hw.
  destruct (f a) eqn:Ha; [discriminate|].
  destruct (Nat.eqb_spec a w) as [->|E]; auto. simpl.
  destruct Hw as [|Hw]; [congruence|auto].
Qed.

Definition with_timer (b : blade) (u : N) (t : timer) : blade :=
  Blade (Some (ttl t)) (Some u) (queue b ++ [t]).

(* The search for another TTL finds the same blade as before; the search for this TTL
   finds the blade that took the timer. *)
Lemma find_put w b u t s : nth_error (blades s) w = Some b ->
  In w (choices (tuning s) (ttl t) (due t)) ->
  (find_blade s (ttl t) (due t) = Some w /\ of_ttl b = Some (ttl t)) \/
  (find_blade s (ttl t) (due t) = None /\ queue b = []) ->
  find (has_ttl (update w (with_timer b u t) (blades s)) (ttl t))
    (choices (tuning s) (ttl t) (due t)) = Some w.
Proof.
  intros Hn Hin [[Hf Hb]|[Hf Hb]].
  - rewrite <- Hf. unfold find_blade. apply find_ext. intros v _.
    apply has_ttl_update. right. exists b. auto.
  - unfold find_blade in Hf. rewrite <- (find_first _ _ _ Hf Hin). apply find_ext.
    intros v _. destruct (Nat.eqb_spec v w) as [->|E]; simpl.
    + unfold has_ttl. rewrite nth_update_same.
      * simpl. apply N.eqb_refl.
      * apply nth_error_Some. congruence.
    + apply has_ttl_update. auto.
Qed.

(* A blade that holds a timer keeps its TTL, and no other blade that would be found
   earlier gets that TTL. *)
Lemma find_keeps w b u t s v d ttl' : nth_error (blades s) w = Some b ->
  of_ttl b = Some (ttl t) \/ queue b = [] ->
  find_blade s ttl' d = Some v -> ttl' <> ttl t ->
  (w = v -> queue b <> []) ->
  find (has_ttl (update w (with_timer b u t) (blades s)) ttl')
    (choices (tuning s) ttl' d) = Some v.
Proof.
  intros Hn Hb Hf Ht Hw. rewrite <- Hf. unfold find_blade.
  destruct Hb as [Hb|Hb].
  - apply find_ext. intros z _. apply has_ttl_update. right. exists b. auto.
  - (* w was free, so it is not v, and it is no longer found for this TTL *)
    assert (Hwv : w <> v) by (intros E; apply Hw in E; congruence).
    unfold find_blade in Hf. rewrite Hf.
    induction (choices (tuning s) ttl' d) as [|a l IH]; simpl in *; [discriminate|].
    destruct (Nat.eq_dec a w) as [->|Ha].
    + assert (E : has_ttl (update w (with_timer b u t) (blades s)) ttl' w = false).
      { unfold has_ttl. rewrite nth_update_same by (apply nth_error_Some; congruence).
        simpl. apply N.eqb_neq. auto. }
      rewrite E. destruct (has_ttl (blades s) ttl' w); [congruence|auto].
    + rewrite has_ttl_update by auto.
      destruct (has_ttl (blades s) ttl' a); auto.
Qed.

Lemma seen_place t c s y : seen (place t c s) y -> y = t \/ seen s y.
Proof.
  intros [H|H].
  - apply in_place in H. destruct H; auto. right; left; auto.
  - right; right. destruct (place_same t c s) as (_ & _ & _ & _ & _ & <-). auto.
Qed.

Lemma right_place t c s : right s -> indexed s -> fits t s -> youngest t s ->
  right (place t c s).
Proof.
  intros Hr Hi Hf Hy. pose proof Hf as (F1 & F2 & F3 & F4 & F5).
  destruct (place_same t c s) as (En & Eb & Eh & Em & Es & El).
  pose proof Hr as [H1 H2 H3 H4 H5 H6 H7 H8].
  (* facts that do not depend on the place of the timer *)
  assert (G1 : forall x y, seen (place t c s) x -> seen (place t c s) y ->
    stamp x <= stamp y -> began x <= began y).
  { intros x y Hx Hz. apply seen_place in Hx, Hz.
    destruct Hx as [->|Hx], Hz as [->|Hz]; auto; try lia.
    - apply Hy in Hz. lia.
    - apply Hy in Hx. lia. }
  assert (G6 : ordered in_turn (fired (log (place t c s)))) by (rewrite El; auto).
  assert (G7 : forall x, In x (fired (log (place t c s))) -> due x <= base (place t c s)).
  { rewrite El, Eb. auto. }
  assert (G8 : forall x y, In x (fired (log (place t c s))) ->
    In y (running (place t c s)) -> ttl x = ttl y -> stamp x < stamp y).
  { rewrite El. intros x y Hx Hz. apply in_place in Hz. destruct Hz as [->|Hz]; auto.
    intros _. apply in_fired in Hx. apply (Hy x). right. auto. }
  assert (Hst : forall y, In y (running s) -> stamp y < stamp t).
  { intros y Hin. apply (Hy y). left. auto. }
  assert (Hunqueued : forall y, In y (unqueued s) -> In y (running s)).
  { intros. apply in_running. auto. }
  assert (Hlast : forall y, In y (last s) -> In y (running s)).
  { intros. apply in_running. auto. }
  assert (Hbla : forall w b y, nth_error (blades s) w = Some b -> In y (queue b) ->
    In y (on_blades (blades s)) /\ In y (running s)).
  { intros w b y Hn Hin. assert (In y (on_blades (blades s))).
    { apply in_on_blades. exists b. split; auto. eapply nth_error_In; eauto. }
    split; auto. apply in_running. auto. }
  (* timers of its TTL and deadline on a blade were started at the same clock *)
  assert (Hjust : forall y, In y (running s) -> ttl y = ttl t -> due y = due t ->
    due t <> LAST -> began y = now s).
  { intros y Hin Ht Hd Hn. apply F5 in Hin. rewrite Ht in Hin. lia. }
  destruct (place_cases t c s)
    as [[Hd Ep]|[(Hd & Hfn & Ep)|(Hd & w & b & Hn & Hin & Hb & Ep)]].
  - (* it waits for the last tick *)
    split; auto; rewrite Ep; unfold put_last; rewrite lower_bound_eq; simpl; auto.
    rewrite app_assoc. apply ordered_app. split; auto. split; [simpl; tauto|].
    intros x y Hx [<-|[]] _. apply Hst. apply in_app_or in Hx. destruct Hx; auto.
  - (* it is unqueued *)
    split; auto; rewrite Ep; unfold put_unqueued; rewrite lower_bound_eq; simpl; auto.
    + rewrite <- app_assoc. apply ordered_app in H2. destruct H2 as (L1 & L2 & L3).
      apply ordered_app. split; auto. split.
      * simpl. split; auto. intros y Hin Hdue.
        destruct (i_last s Hi y Hin) as [E _]. congruence.
      * intros x y Hx Hin Hdue. destruct Hin as [<-|Hin]; auto.
    + intros x y Hx Hin Ht Hdue. apply in_app_or in Hx.
      destruct Hx as [Hx|[<-|[]]]; auto. exfalso.
      apply in_on_blades in Hin. destruct Hin as (b & Hb & Hin).
      apply In_nth_error in Hb. destruct Hb as (w & Hw).
      destruct (Hbla _ _ _ Hw Hin) as [_ Hrun].
      assert (E : began y = now s) by (apply Hjust; auto).
      apply (H5 w b y Hw Hin) in E. congruence.
  - (* it is on a blade *)
    destruct (put_blade_eq w t s b Hn) as (u & v & Ev & _).
    fold (with_timer b u t) in Ev.
    assert (Hq : forall x y, nth_error (blades s) x = Some y -> forall z,
      In z (queue y) -> ttl z = ttl t -> due z = due t -> x = w).
    { intros x y Hxy z Hz Ht Hdz. destruct (Hbla _ _ _ Hxy Hz) as [_ Hrun].
      pose proof (H5 x y z Hxy Hz (Hjust z Hrun Ht Hdz Hd)) as Hfz.
      rewrite Ht, Hdz in Hfz. destruct Hb as [[Hb _]|[Hb _]]; congruence. }
    split; auto; rewrite Ep, Ev; simpl; auto.
    + intros x y Hx Hz Ht Hdz. apply in_on_blades in Hz. destruct Hz as (a & Ha & Hz).
      apply in_update in Ha. destruct Ha as [->|Ha].
      * simpl in Hz. apply in_app_or in Hz. destruct Hz as [Hz|[<-|[]]]; auto.
        apply H3; auto. apply (Hbla w b y); auto.
      * apply H3; auto. apply in_on_blades. eauto.
    + intros x z a a' y y' Ha Ha' Hxz Hy1 Hy2 Ht.
      apply nth_update in Ha, Ha'.
      destruct Ha as [[-> ->]|[Hx Ha]], Ha' as [[-> ->]|[Hz Ha']]; try congruence.
      * simpl in Hy1. apply in_app_or in Hy1. destruct Hy1 as [Hy1|[<-|[]]].
        -- apply (H4 w z b a'); auto.
        -- intros E. apply Hz. symmetry in E. symmetry in Ht. eapply Hq; eauto.
      * simpl in Hy2. apply in_app_or in Hy2. destruct Hy2 as [Hy2|[<-|[]]].
        -- apply (H4 x w a b); auto.
        -- intros E. apply Hx. eapply Hq; eauto.
      * apply (H4 x z a a'); auto.
    + intros x a y Ha Hin' Hnow. unfold find_blade. simpl.
      assert (Hb' : of_ttl b = Some (ttl t) \/ queue b = []) by tauto.
      apply nth_update in Ha. destruct Ha as [[-> ->]|[Hx Ha]].
      * assert (Et : ttl y = ttl t /\ due y = due t).
        { simpl in Hin'. apply in_app_or in Hin'. destruct Hin' as [Hin'|[<-|[]]]; auto.
          destruct (Hbla _ _ _ Hn Hin') as [_ Hrun].
          pose proof (i_blade s Hi b y (nth_error_In _ _ Hn) Hin') as [Ho _].
          destruct Hb' as [Hb'|Hb']; [|rewrite Hb' in Hin'; destruct Hin'].
          assert (ttl y = ttl t) by congruence. split; auto.
          apply F5 in Hrun. rewrite H in Hrun. rewrite Hnow in Hrun. lia. }
        destruct Et as [-> ->]. apply find_put; auto.
      * pose proof (H5 x a y Ha Hin' Hnow) as Hfy.
        destruct (N.eq_dec (ttl y) (ttl t)) as [Et|Et].
        -- exfalso. apply Hx. apply (Hq x a Ha y); auto.
           destruct (Hbla _ _ _ Ha Hin') as [_ Hrun]. apply F5 in Hrun.
           rewrite Et, Hnow in Hrun. lia.
        -- apply find_keeps; auto; congruence.
Qed.

(* A step that moves no timer and no clock. *)
Lemma right_quiet s s' : right s -> now s' = now s -> base s <= base s' ->
  tuning s' = tuning s -> blades s' = blades s -> unqueued s' = unqueued s -> last s' = last s ->
  fired (log s') = fired (log s) -> right s'.
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] En Eb Eh E1 E2 E3 El.
  assert (Er : running s' = running s) by (unfold running; congruence).
  split; unfold find_blade; rewrite ?En, ?Eh, ?E1, ?E2, ?E3, ?El, ?Er; auto.
  - intros x y Hx Hy. apply H1; [destruct Hx as [H|H]|destruct Hy as [H|H]];
      try (left; congruence); right; apply in_fired in H; apply in_fired; congruence.
  - intros x Hx. apply H7 in Hx. lia.
Qed.

(* A timer that fires is the first of its TTL. *)
Lemma fire_first e t s y : sound s -> indexed s -> right s -> base s = e ->
  fires_from e t s -> In y (running s) -> name y <> name t -> ttl t = ttl y ->
  stamp t < stamp y.
Proof.
  intros Hs Hi Hr Hb Hc Hy Hn Ht.
  pose proof (s_now s Hs) as Hl.
  pose proof (fires_from_running _ _ _ Hc) as Htr.
  pose proof (base_le_due s y Hi Hl Hy) as Hle.
  pose proof (fire_due _ _ _ Hc) as Hd.
  pose proof (base_le_due s t Hi Hl Htr) as Hdt.
  destruct (N.eq_dec (due y) (due t)) as [E|E].
  - destruct Hr as [H1 H2 H3 H4 H5 H6 H7 H8].
    destruct Hc as [(He & l1 & l2 & Hlo & Hno)|(_ & Hno & w & b & q & Hw & _ & Hq)].
    + assert (Htl : In t (unqueued s)) by (rewrite Hlo; apply in_or_app; simpl; auto).
      apply in_running in Hy. destruct Hy as [Hy|Hy]; [apply H3; auto|].
      rewrite Hlo in Hy, H2. rewrite <- app_assoc in H2.
      apply ordered_app in H2. destruct H2 as (_ & H2 & _). simpl in H2.
      destruct H2 as [H2 _]. rewrite in_app_iff in Hy. simpl in Hy.
      destruct Hy as [[Hy|[Hy|Hy]]|Hy].
      * exfalso. apply (Hno y Hy). congruence.
      * congruence.
      * apply H2; auto. apply in_or_app. auto.
      * apply H2; auto. apply in_or_app. auto.
    + assert (Htb : In t (queue b)) by (rewrite Hq; simpl; auto).
      apply in_running in Hy. destruct Hy as [Hy|[Hy|Hy]].
      * apply in_on_blades in Hy. destruct Hy as (a & Ha & Hy).
        apply In_nth_error in Ha. destruct Ha as (v & Hv).
        destruct (Nat.eq_dec v w) as [->|Hvw].
        -- assert (a = b) by congruence. subst a.
           pose proof (i_line s Hi b (nth_error_In _ _ Hw)) as Ho. rewrite Hq in Ho, Hy.
           destruct Hy as [->|Hy]; [congruence|]. apply Ho in Hy. apply Hy.
        -- exfalso. apply (H4 v w a b y t Hv Hw Hvw Hy Htb); auto.
      * exfalso. apply (Hno y Hy). lia.
      * exfalso. destruct (i_last s Hi y Hy) as [Hyl _].
        destruct (i_blade s Hi b t (nth_error_In _ _ Hw) Htb). lia.
  - destruct (N.lt_ge_cases (stamp t) (stamp y)) as [|Hge]; auto. exfalso.
    assert (Hm : began y <= began t).
    { apply (r_mono s Hr); auto; left; auto. }
    destruct (s_seen s Hs t (or_introl Htr)) as (D1 & _).
    destruct (s_seen s Hs y (or_introl Hy)) as (D2 & _).
    rewrite Ht in D1. lia.
Qed.

Lemma right_step s s' : step s s' -> sound s -> indexed s -> right s -> right s'.
Proof.
  intros H Hs Hi Hr. destruct H; try (apply (right_quiet s); simpl; auto; try lia; fail).
  - (* start *)
    unfold start. apply right_place.
    + apply (right_quiet (remove x s)); simpl; auto; try lia. apply right_remove. auto.
    + apply (indexed_remove x) in Hi. destruct Hi as [H1 H2 H3 H4 H5 H6 H7 H8].
      split; auto.
    + apply start_fits. auto.
    + intros y Hy. simpl.
      assert (Hy' : seen s y).
      { destruct Hy as [Hy|(u & f & Hy)].
        - left. apply (in_remove x s y) in Hy. tauto.
        - right. simpl in Hy. destruct Hy as [|Hy]; [discriminate|eauto]. }
      apply (s_seen s Hs) in Hy'. tauto.
  - (* stop *)
    apply (right_quiet (remove x s)); simpl; auto; try lia. apply right_remove. auto.
  - (* the clock moves *)
    destruct Hr as [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
    simpl. intros w b y Hw Hy Hn. exfalso.
    assert (Hseen : seen s y).
    { left. apply in_running. left. apply in_on_blades. exists b. split; auto.
      eapply nth_error_In; eauto. }
    pose proof (s_seen s Hs y Hseen) as (D1 & D2 & D3 & _).
    destruct (i_blade s Hi b y (nth_error_In _ _ Hw) Hy) as [_ Hd]. lia.
  - (* a mow of the last tick begins *)
    destruct Hr as [R1 R2 R3 R4 R5 R6 R7 R8]. split; simpl; auto.
    + intros x y Hx Hy. apply R1.
      * destruct Hx as [Hx|Hx]; [left|right; auto]. apply (take_last_running s x). auto.
      * destruct Hy as [Hy|Hy]; [left|right; auto]. apply (take_last_running s y). auto.
    + rewrite app_nil_r. auto.
    + intros x y Hx Hy Ht Hd. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; auto.
      exfalso. apply in_on_blades in Hy. destruct Hy as (a & Ha & Hy).
      destruct (i_blade s Hi a y Ha Hy). destruct (i_last s Hi x Hx). lia.
    + intros x y Hx Hy. apply R8; auto. apply (take_last_running s y). auto.
  - (* the base moves to the earliest time *)
    apply (right_quiet s); simpl; auto. apply base_le_times; auto.
    apply least_in. auto.
  - (* settle *)
    assert (Er : running (set_blades l s) = running s) by (apply settle_running; auto).
    destruct Hr as [H1 H2 H3 H4 H5 H6 H7 H8]. split; auto.
    + intros x y Hx Hy. apply H1.
      * destruct Hx as [Hx|Hx]; [left; congruence|right; auto].
      * destruct Hy as [Hy|Hy]; [left; congruence|right; auto].
    + simpl. rewrite (settle_on_blades _ _ H). auto.
    + simpl. intros w v a b x y Ha Hb.
      destruct (settle_nth _ _ _ _ H Ha) as (a' & Ha' & Sa).
      destruct (settle_nth _ _ _ _ H Hb) as (b' & Hb' & Sb).
      apply settled_queue in Sa, Sb. destruct Sa as [-> _], Sb as [-> _]. eauto.
    + simpl. intros w b x Hb Hx Hn. destruct (settle_nth _ _ _ _ H Hb) as (b' & Hb' & Sb).
      apply settled_queue in Sb. destruct Sb as [Eq _]. rewrite Eq in Hx.
      rewrite <- (H5 w b' x Hb' Hx Hn). unfold find_blade. simpl. apply find_ext.
      intros v _. apply has_ttl_settle. auto.
    + rewrite Er. auto.
  - (* fire *)
    pose proof (fun y => fire_first e t s y Hs Hi Hr H2 H4) as Hf.
    pose proof (fires_from_running _ _ _ H4) as Ht.
    pose proof (fire_due _ _ _ H4) as Hd.
    pose proof (base_le_due s t Hi (s_now s Hs) Ht) as Hbd.
    pose proof (right_remove (name t) s Hr) as Hr'.
    destruct Hr' as [R1 R2 R3 R4 R5 R6 R7 R8].
    destruct Hr as [H1' _ _ _ _ _ H7' H8'].
    split; auto.
    + intros x y Hx Hy. apply H1'.
      * destruct Hx as [Hx|(u & f & [Hx|Hx])].
        -- left. apply (in_remove (name t) s x) in Hx. tauto.
        -- injection Hx as -> _ _. left. auto.
        -- right. eauto.
      * destruct Hy as [Hy|(u & f & [Hy|Hy])].
        -- left. apply (in_remove (name t) s y) in Hy. tauto.
        -- injection Hy as -> _ _. left. auto.
        -- right. eauto.
    + simpl. split; auto. intros x Hx. split.
      * apply H7' in Hx. lia.
      * intros E. apply H8'; auto.
    + simpl. intros x [<-|Hx]; [lia|auto].
    + simpl. intros x y [<-|Hx] Hy E; [|auto].
      apply (in_remove (name t) s y) in Hy. apply Hf; tauto.
  - (* reserve *)
    pose proof (reserve_running w b (Some t) (entry b) s H0 H1) as Er.
    assert (Hin : forall v a x,
      nth_error (update w (Blade (Some t) (entry b) []) (blades s)) v = Some a ->
      In x (queue a) -> nth_error (blades s) v = Some a).
    { intros v a x Ha Hx. apply nth_update in Ha.
      destruct Ha as [[-> ->]|[_ Ha]]; [destruct Hx|auto]. }
    destruct Hr as [R1 R2 R3 R4 R5 R6 R7 R8]. split; auto.
    + intros x y Hx Hy. apply R1.
      * destruct Hx as [Hx|Hx]; [left; congruence|right; auto].
      * destruct Hy as [Hy|Hy]; [left; congruence|right; auto].
    + simpl. rewrite (reserve_on_blades w b); auto.
    + simpl. intros v v' a a' x y Ha Ha' Hv Hx Hy. apply (R4 v v' a a'); eauto.
    + (* while the blades are bypassed, no timer is put on one *)
      simpl. intros v a x Ha Hx Hn. exfalso.
      pose proof (R5 v a x (Hin v a x Ha Hx) Hx Hn) as Hf.
      unfold find_blade, choices in Hf. rewrite H in Hf. discriminate.
    + rewrite Er. auto.
Qed.

Lemma reachable_right s : reachable s -> sound s /\ indexed s /\ right s.
Proof.
  revert s. apply (reachable_ind (fun s => sound s /\ indexed s /\ right s)).
  - split; [|split]; [apply sound_init|apply indexed_init|apply right_init].
  - intros s s' H Hl (H1 & H2 & H3). split; [|split].
    + eapply sound_step; eauto.
    + eapply indexed_step; eauto.
    + eapply right_step; eauto.
Qed.

(* [P4], for any two timers that have fired; the log begins with the newest. *)
Theorem order s : reachable s ->
  forall l1 y l2 x l3, fired (log s) = l1 ++ y :: l2 ++ x :: l3 ->
    due x <= due y /\ (ttl x = ttl y -> stamp x < stamp y).
Proof.
  intros H l1 y l2 x l3 E. destruct (reachable_right s H) as (_ & _ & Hr).
  pose proof (r_log s Hr) as Ho. rewrite E in Ho.
  apply ordered_app in Ho. destruct Ho as (_ & Ho & _). simpl in Ho.
  apply (proj1 Ho x). apply in_or_app. simpl. auto.
Qed.
