(* Basics.v - lemmas about lists, about the places of timers after the functions of
   Model.v, and about sums of times. *)

From Coq Require Import NArith List Bool Arith Lia Permutation.
From Lawn Require Import Model.
Import ListNotations.
Open Scope N_scope.

(* A list in which R holds between each element and all later ones. *)
Fixpoint ordered {A} (R : A -> A -> Prop) (l : list A) : Prop :=
  match l with
  | [] => True
  | x :: l => (forall y, In y l -> R x y) /\ ordered R l
  end.

Lemma ordered_app {A} (R : A -> A -> Prop) l1 l2 :
  ordered R (l1 ++ l2) <->
  ordered R l1 /\ ordered R l2 /\ (forall x y, In x l1 -> In y l2 -> R x y).
Proof.
  induction l1 as [|a l1 IH]; simpl.
  - intuition.
  - rewrite IH. split.
    + intros (H1 & H2 & H3 & H4). repeat split; auto.
      * intros y Hy. apply H1. apply in_or_app. auto.
      * intros x y [->|Hx] Hy; [apply H1; apply in_or_app|]; auto.
    + intros ((H1 & H2) & H3 & H4). repeat split; auto.
      intros y Hy. apply in_app_or in Hy. destruct Hy; auto.
Qed.

Lemma ordered_filter {A} (R : A -> A -> Prop) f l :
  ordered R l -> ordered R (filter f l).
Proof.
  induction l as [|a l IH]; simpl; auto. intros [H1 H2].
  destruct (f a); simpl; auto. split; auto.
  intros y Hy. apply filter_In in Hy. apply H1. tauto.
Qed.

Lemma in_drop x t l : In t (drop x l) <-> In t l /\ name t <> x.
Proof.
  unfold drop. rewrite filter_In, negb_true_iff, Nat.eqb_neq. tauto.
Qed.

Lemma on_blades_app l1 l2 : on_blades (l1 ++ l2) = on_blades l1 ++ on_blades l2.
Proof. apply flat_map_app. Qed.

Lemma in_on_blades t l : In t (on_blades l) <-> exists b, In b l /\ In t (queue b).
Proof. apply in_flat_map. Qed.

Lemma in_running t s :
  In t (running s) <-> In t (on_blades (blades s)) \/ In t (unqueued s) \/ In t (last s).
Proof. unfold running. rewrite !in_app_iff. tauto. Qed.

Lemma in_entries u l : In u (entries l) <-> exists b, In b l /\ entry b = Some u.
Proof.
  unfold entries. rewrite in_flat_map. split; intros (b & Hb & H); exists b; split; auto.
  - destruct (entry b); simpl in H; intuition congruence.
  - rewrite H. simpl. auto.
Qed.

Lemma in_times u s :
  In u (times s) <->
  (exists t, In t (unqueued s) /\ due t = u) \/ In u (entries (blades s)).
Proof.
  unfold times. rewrite in_app_iff, in_map_iff. firstorder.
Qed.

(* least *)

Lemma least_none l : least l = None -> l = [].
Proof. destruct l as [|a l]; simpl; auto. destruct (least l); discriminate. Qed.

Lemma least_le l : forall e u, least l = Some e -> In u l -> e <= u.
Proof.
  induction l as [|a l IH]; simpl; [discriminate|].
  intros e u He Hu. destruct (least l) as [m|] eqn:Hm.
  - injection He as <-. destruct Hu as [->|Hu]; [|specialize (IH _ _ eq_refl Hu)]; lia.
  - apply least_none in Hm. subst l. injection He as <-. destruct Hu as [->|[]]. lia.
Qed.

Lemma least_in l : forall e, least l = Some e -> In e l.
Proof.
  induction l as [|a l IH]; simpl; [discriminate|].
  intros e He. destruct (least l) as [m|].
  - injection He as <-. destruct (N.min_spec a m) as [[_ ->]|[_ ->]]; auto.
  - injection He as <-. auto.
Qed.

(* Blades and their numbers. *)

Lemma update_length w b l : length (update w b l) = length l.
Proof. revert w; induction l as [|a l IH]; intros [|w]; simpl; auto. Qed.

Lemma nth_update_same w b l :
  (w < length l)%nat -> nth_error (update w b l) w = Some b.
Proof.
  revert w; induction l as [|a l IH]; intros [|w]; simpl; intros H; try lia; auto.
  apply IH. lia.
Qed.

Lemma nth_update_other w w' b l :
  w <> w' -> nth_error (update w b l) w' = nth_error l w'.
Proof.
  revert w w'; induction l as [|a l IH]; intros [|w] [|w'] H; simpl; auto; try lia.
Qed.

Lemma nth_update w w' b b' l :
  nth_error (update w b l) w' = Some b' ->
  (w' = w /\ b' = b) \/ (w' <> w /\ nth_error l w' = Some b').
Proof.
  intros H. destruct (Nat.eq_dec w' w) as [->|Hw].
  - left. split; auto.
    assert (w < length (update w b l))%nat by (apply nth_error_Some; congruence).
    rewrite update_length in *. rewrite nth_update_same in H; congruence.
  - right. split; auto. rewrite nth_update_other in H; auto.
Qed.

Lemma update_split w b l a :
  nth_error l w = Some a ->
  exists l1 l2, l = l1 ++ a :: l2 /\ update w b l = l1 ++ b :: l2.
Proof.
  revert w; induction l as [|c l IH]; intros [|w]; simpl; try discriminate.
  - intros [= ->]. exists [], l. auto.
  - intros H. destruct (IH _ H) as (l1 & l2 & -> & ->). exists (c :: l1), l2. auto.
Qed.

Lemma in_update w b l c : In c (update w b l) -> c = b \/ In c l.
Proof.
  revert w; induction l as [|a l IH]; intros [|w]; simpl; auto.
  - intuition.
  - intros [->|H]; auto. destruct (IH _ H); auto.
Qed.

Lemma nth_map_inv {A B} (f : A -> B) l w b :
  nth_error (map f l) w = Some b -> exists a, nth_error l w = Some a /\ b = f a.
Proof.
  rewrite nth_error_map. destruct (nth_error l w); simpl; [|discriminate].
  intros [= <-]. eauto.
Qed.

(* Sums *)

Lemma last_word : LAST + 2 = WORD. Proof. reflexivity. Qed.
Lemma last_never : LAST + 1 = NEVER. Proof. reflexivity. Qed.

Lemma minus_exact a b : b <= a -> a < WORD -> minus a b = a - b.
Proof.
  intros H1 H2. unfold minus.
  replace (a + (WORD - b)) with (a - b + 1 * WORD) by lia.
  rewrite N.mod_add by discriminate. apply N.mod_small. lia.
Qed.

Lemma plus_exact a b : a + b < WORD -> plus a b = a + b.
Proof. apply N.mod_small. Qed.

(* ticks.h: a deadline saturates and never wraps [P9]. *)
Lemma after_exact t d : t <= LAST -> after t d = N.min (t + d) LAST.
Proof.
  intros H. pose proof last_word. unfold after. rewrite minus_exact by lia.
  destruct (N.ltb_spec d (LAST - t)).
  - rewrite plus_exact; lia.
  - lia.
Qed.

Lemma counted_pos d : 1 <= counted d.
Proof. unfold counted. destruct (N.eqb_spec d 0); lia. Qed.

Lemma tell_time_now t h s : now s <= LAST ->
  now (advance_clock t h s) = N.max (now s) (N.min t LAST).
Proof.
  intros H. unfold advance_clock.
  destruct (N.ltb_spec (now s) t); simpl; [destruct (N.ltb_spec t LAST)|]; lia.
Qed.

(* Fields that remove, place and settle do not change. *)

Lemma drop_app x l1 l2 : drop x (l1 ++ l2) = drop x l1 ++ drop x l2.
Proof. apply filter_app. Qed.

Lemma on_blades_drop x l : on_blades (map (drop_blade x) l) = drop x (on_blades l).
Proof.
  induction l as [|b l IH]; simpl; auto. rewrite drop_app, <- IH. reflexivity.
Qed.

Lemma running_remove x s : running (remove x s) = drop x (running s).
Proof.
  unfold running, remove. simpl. rewrite on_blades_drop, !drop_app. reflexivity.
Qed.

Lemma in_remove x s t : In t (running (remove x s)) <-> In t (running s) /\ name t <> x.
Proof. rewrite running_remove. apply in_drop. Qed.

Lemma pending_spec x s : pending x s = true <-> exists t, In t (running s) /\ name t = x.
Proof.
  unfold pending. rewrite existsb_exists. split; intros (t & H1 & H2); exists t;
    rewrite ?Nat.eqb_eq in *; auto.
Qed.

Lemma place_cases t c s :
  (due t = LAST /\ place t c s = put_last t s) \/
  (due t <> LAST /\ find_blade s (ttl t) (due t) = None /\
   place t c s = put_unqueued t s) \/
  (due t <> LAST /\ exists w b,
    nth_error (blades s) w = Some b /\ In w (choices (tuning s) (ttl t) (due t)) /\
    ((find_blade s (ttl t) (due t) = Some w /\ of_ttl b = Some (ttl t)) \/
     (find_blade s (ttl t) (due t) = None /\ queue b = [])) /\
    place t c s = put_blade w t s).
Proof.
  unfold place. destruct (N.eqb_spec (due t) LAST) as [Hd|Hd]; [auto|].
  unfold seek. destruct (find_blade s (ttl t) (due t)) as [w|] eqn:Hf.
  - right; right. split; auto. unfold find_blade in Hf. apply find_some in Hf.
    destruct Hf as [Hin Hh]. unfold has_ttl in Hh.
    destruct (nth_error (blades s) w) as [b|] eqn:Hn; [|discriminate].
    destruct (of_ttl b) as [u|] eqn:Hu; [|discriminate].
    apply N.eqb_eq in Hh. subst u. exists w, b. auto 10.
  - destruct (claim_blade s (ttl t) (due t) c) as [w|] eqn:Hc; [|auto].
    right; right. split; auto. unfold claim_blade in Hc.
    destruct c as [v|]; [|discriminate].
    destruct (existsb (Nat.eqb v) (choices (tuning s) (ttl t) (due t))) eqn:He; [|discriminate].
    destruct (is_free (blades s) v) eqn:Hv; [|discriminate].
    injection Hc as ->. unfold is_free in Hv.
    destruct (nth_error (blades s) w) as [b|] eqn:Hn; [|discriminate].
    destruct (queue b) eqn:Hq; [|discriminate].
    apply existsb_exists in He. destruct He as (v & Hin & Hw).
    apply Nat.eqb_eq in Hw. subst v. exists w, b. auto 10.
Qed.

Lemma lower_bound_eq d s : lower_bound d s = set_bound (N.min (bound s) d) s.
Proof.
  unfold lower_bound. destruct (N.ltb_spec d (bound s)).
  - rewrite N.min_r by lia. reflexivity.
  - rewrite N.min_l by lia. destruct s. reflexivity.
Qed.

Lemma put_blade_eq w t s b :
  nth_error (blades s) w = Some b ->
  exists u v,
    put_blade w t s =
      set_bound v (set_blades
        (update w (Blade (Some (ttl t)) (Some u) (queue b ++ [t])) (blades s)) s) /\
    ((entry b = Some u /\ u <= due t /\ v = bound s) \/
     ((forall u', entry b = Some u' -> due t < u') /\ u = due t /\
      v = N.min (bound s) (due t))).
Proof.
  intros H. unfold put_blade. rewrite H.
  destruct (entry b) as [u|] eqn:Hu; [destruct (N.leb_spec u (due t))|].
  - exists u, (bound s). destruct s; simpl. split; auto.
  - exists (due t), (N.min (bound s) (due t)). split.
    + rewrite lower_bound_eq. reflexivity.
    + right. split; [intros u' [= <-]|]; auto.
  - exists (due t), (N.min (bound s) (due t)). split.
    + rewrite lower_bound_eq. reflexivity.
    + right. split; [discriminate|]; auto.
Qed.

Lemma place_same t c s :
  now (place t c s) = now s /\ base (place t c s) = base s /\
  tuning (place t c s) = tuning s /\ mode (place t c s) = mode s /\
  starts (place t c s) = starts s /\ log (place t c s) = log s.
Proof.
  destruct (place_cases t c s) as [[_ ->]|[(_ & _ & ->)|(_ & w & b & Hn & _ & _ & ->)]].
  - unfold put_last. rewrite lower_bound_eq. simpl. auto 10.
  - unfold put_unqueued. rewrite lower_bound_eq. simpl. auto 10.
  - destruct (put_blade_eq w t s b Hn) as (u & v & -> & _). simpl. auto 10.
Qed.

Lemma place_running t c s : Permutation (running (place t c s)) (t :: running s).
Proof.
  destruct (place_cases t c s) as [[_ ->]|[(_ & _ & ->)|(_ & w & b & Hn & _ & _ & ->)]].
  - unfold put_last. rewrite lower_bound_eq. unfold running. simpl.
    rewrite !app_assoc. symmetry. apply Permutation_cons_append.
  - unfold put_unqueued. rewrite lower_bound_eq. unfold running. simpl.
    rewrite <- app_assoc. simpl. rewrite !app_assoc. symmetry.
    apply Permutation_middle.
  - destruct (put_blade_eq w t s b Hn) as (u & v & -> & _).
    unfold running. simpl.
    destruct (update_split w (Blade (Some (ttl t)) (Some u) (queue b ++ [t])) _ _ Hn)
      as (l1 & l2 & -> & ->).
    rewrite !on_blades_app. simpl. rewrite <- !app_assoc. simpl.
    rewrite !app_assoc. symmetry. rewrite <- !app_assoc. simpl.
    rewrite !(app_assoc (on_blades l1)). apply Permutation_middle.
Qed.

Lemma in_place t c s x : In x (running (place t c s)) <-> x = t \/ In x (running s).
Proof.
  split; intros H.
  - apply (Permutation_in _ (place_running t c s)) in H. destruct H; auto.
  - apply (Permutation_in _ (Permutation_sym (place_running t c s))).
    destruct H as [->|H]; simpl; auto.
Qed.
