(* Digits.v - the index by digits: why the first bit set is the earliest slot, and
   why a time and the base determine the slot of the time [I4].

   From index.h: level and slot are lawn__index_slot_of(), with any number of bits
   per digit and times of any size; first_tick is lawn__index_slot_start().
   proofs/cbmc proves that the 64-bit shifts and masks in C compute these. *)

From Coq Require Import NArith Lia.
Open Scope N_scope.

Section Digits.

Variable bits : N.
Hypothesis bits_pos : 0 < bits.

(* The digits of a time from a level up; and one of its digits. *)
Definition from (level time : N) : N := N.shiftr time (bits * level).
Definition digit (level time : N) : N := from level time mod 2 ^ bits.

(* The level of the highest digit in which a time differs from the base. *)
Definition level (base time : N) : N := N.log2 (N.lor (N.lxor time base) 1) / bits.
Definition slot (base time : N) : N :=
  level base time * 2 ^ bits + digit (level base time) time.
Definition first_tick (base slot : N) : N :=
  (from (slot / 2 ^ bits + 1) base * 2 ^ bits + slot mod 2 ^ bits)
  * 2 ^ (bits * (slot / 2 ^ bits)).

Lemma pow_pos n : 0 < 2 ^ n.
Proof. apply N.neq_0_lt_0. apply N.pow_nonzero. discriminate. Qed.

Lemma from_mono l t1 t2 : t1 <= t2 -> from l t1 <= from l t2.
Proof.
  intros H. unfold from. rewrite !N.shiftr_div_pow2. apply N.div_le_mono; auto.
  pose proof (pow_pos (bits * l)). lia.
Qed.

Lemma from_between l t1 t2 t3 : t1 <= t2 -> t2 <= t3 -> from l t1 = from l t3 ->
  from l t2 = from l t3.
Proof.
  intros H1 H2 E. pose proof (from_mono l _ _ H1). pose proof (from_mono l _ _ H2). lia.
Qed.

Lemma from_next l t : from l t = from (l + 1) t * 2 ^ bits + digit l t.
Proof.
  unfold digit. replace (from (l + 1) t) with (from l t / 2 ^ bits).
  - rewrite N.mul_comm. apply N.div_mod. pose proof (pow_pos bits). lia.
  - unfold from. rewrite <- N.shiftr_div_pow2, N.shiftr_shiftr. f_equal. lia.
Qed.

Lemma digit_small l t : digit l t < 2 ^ bits.
Proof. apply N.mod_lt. pose proof (pow_pos bits). lia. Qed.

(* Two times agree from a bit up if their xor is below that bit. *)
Lemma agree_lxor n a b : N.shiftr a n = N.shiftr b n <-> N.lxor a b < 2 ^ n.
Proof.
  rewrite <- N.lxor_eq_0_iff, <- N.shiftr_lxor, N.shiftr_div_pow2. split; intros H.
  - apply N.div_small_iff in H; auto. pose proof (pow_pos n). lia.
  - apply N.div_small. auto.
Qed.

Lemma lor_one x : x <= N.lor x 1 <= x + 1.
Proof.
  destruct (N.even x) eqn:E.
  - apply N.even_spec in E. destruct E as [k ->]. rewrite N.lor_comm.
    destruct k; simpl; lia.
  - rewrite <- N.negb_odd in E. apply Bool.negb_false_iff in E.
    apply N.odd_spec in E. destruct E as [k ->].
    destruct k as [|p]; simpl; lia.
Qed.

(* The level is the lowest one above which the time agrees with the base. *)
Lemma level_lt base t k : 1 <= k -> level base t < k <-> from k t = from k base.
Proof.
  intros Hk. unfold level, from. rewrite agree_lxor.
  set (x := N.lxor t base). pose proof (lor_one x) as Hx.
  assert (Hp : 1 <= N.lor x 1) by (destruct x as [|[| |]]; simpl; lia).
  assert (Hdiv : N.log2 (N.lor x 1) / bits < k <-> N.log2 (N.lor x 1) < bits * k).
  { split; intros H.
    - pose proof (N.mul_succ_div_gt (N.log2 (N.lor x 1)) bits). nia.
    - apply N.div_lt_upper_bound; lia. }
  rewrite Hdiv, <- N.log2_lt_pow2 by lia.
  assert (Heven : exists n, 2 ^ (bits * k) = 2 * n).
  { exists (2 ^ (bits * k - 1)). rewrite <- N.pow_succ_r'. f_equal. nia. }
  destruct Heven as [n Hn]. rewrite Hn.
  split; intros H; [lia|].
  assert (Ho : N.odd (N.lor x 1) = true).
  { rewrite <- N.bit0_odd, N.lor_spec. rewrite Bool.orb_true_r. auto. }
  apply N.odd_spec in Ho. destruct Ho as [j Hj]. rewrite Hj in *. lia.
Qed.

Lemma level_agrees base t : from (level base t + 1) t = from (level base t + 1) base.
Proof. apply level_lt; lia. Qed.

Lemma level_differs base t : level base t = 0 \/
  from (level base t) t <> from (level base t) base.
Proof.
  destruct (N.eq_dec (level base t) 0) as [|H]; auto. right. intros E.
  apply level_lt in E; lia.
Qed.

(* Later times have later slots. *)
Lemma slot_mono base t1 t2 : base <= t1 -> t1 <= t2 -> slot base t1 <= slot base t2.
Proof.
  intros H1 H2. unfold slot.
  assert (HL : level base t1 <= level base t2).
  { destruct (N.le_gt_cases (level base t1) (level base t2)) as [|Hgt]; auto.
    assert (H := Hgt). apply level_lt in H; [|lia]. symmetry in H.
    pose proof (from_between _ _ _ _ H1 H2 H) as E. rewrite <- H in E.
    apply level_lt in E; lia. }
  pose proof (digit_small (level base t1) t1) as D1.
  destruct (N.eq_dec (level base t1) (level base t2)) as [E|E]; [|nia].
  rewrite <- E in *. pose proof (level_agrees base t1) as A1.
  pose proof (level_agrees base t2) as A2. rewrite <- E in A2.
  pose proof (from_mono (level base t1) _ _ H2) as Hm.
  rewrite (from_next _ t1), (from_next _ t2), A1, A2 in Hm. lia.
Qed.

Lemma slot_level base t : slot base t / 2 ^ bits = level base t.
Proof.
  unfold slot. pose proof (pow_pos bits). pose proof (digit_small (level base t) t).
  symmetry. apply (N.div_unique _ _ _ (digit (level base t) t)); lia.
Qed.

Lemma slot_digit base t : slot base t mod 2 ^ bits = digit (level base t) t.
Proof.
  unfold slot. pose proof (pow_pos bits). pose proof (digit_small (level base t) t).
  symmetry. apply (N.mod_unique _ _ (level base t)); lia.
Qed.

(* The first tick of a time's slot: the time with its lower digits cleared. *)
Lemma first_tick_from base t :
  first_tick base (slot base t) =
    from (level base t) t * 2 ^ (bits * level base t).
Proof.
  unfold first_tick. rewrite slot_level, slot_digit.
  rewrite <- level_agrees, <- from_next. auto.
Qed.

Lemma first_tick_le base t : first_tick base (slot base t) <= t.
Proof.
  rewrite first_tick_from. unfold from. rewrite N.shiftr_div_pow2, N.mul_comm.
  apply N.mul_div_le. pose proof (pow_pos (bits * level base t)). lia.
Qed.

Lemma slot_stays base base' t : base <= base' -> base' <= t ->
  level base t = 0 \/ base' < first_tick base (slot base t) ->
  slot base' t = slot base t.
Proof.
  intros H1 H2 H. unfold slot. enough (E : level base' t = level base t) by (rewrite E; auto).
  set (L := level base t) in *.
  assert (Hle : level base' t < L + 1).
  { apply level_lt; [lia|]. pose proof (level_agrees base t) as A. fold L in A.
    symmetry. apply (from_between _ base); auto. }
  destruct H as [H|H]; [lia|].
  destruct (N.eq_dec (level base' t) L) as [|Hne]; auto. exfalso.
  assert (HL : level base' t < L) by lia. apply level_lt in HL; [|lia].
  rewrite first_tick_from in H. fold L in H. rewrite HL in H.
  unfold from in H. rewrite N.shiftr_div_pow2 in H.
  pose proof (N.mul_div_le base' (2 ^ (bits * L))). pose proof (pow_pos (bits * L)). lia.
Qed.

(* The earliest slot holds the earliest times; a slot of level 0 is one tick; and as
   the base advances, a time keeps its slot until the base reaches it. *)
Theorem digits base t1 t2 : base <= t1 -> base <= t2 ->
  (slot base t1 < slot base t2 -> t1 < t2) /\
  (slot base t1 = slot base t2 -> level base t1 = 0 -> t1 = t2) /\
  first_tick base (slot base t1) <= t1 /\
  (forall base', base <= base' -> base' <= t1 ->
     level base t1 = 0 \/ base' < first_tick base (slot base t1) ->
     slot base' t1 = slot base t1).
Proof.
  intros H1 H2. split; [|split; [|split]].
  - intros H. destruct (N.lt_ge_cases t1 t2) as [|Hge]; auto.
    pose proof (slot_mono base _ _ H2 Hge). lia.
  - intros E HL. pose proof (first_tick_from base t1) as F1.
    pose proof (first_tick_from base t2) as F2.
    assert (HL2 : level base t2 = 0) by (rewrite <- slot_level, <- E, slot_level; auto).
    rewrite HL in F1. rewrite HL2, <- E, F1 in F2. unfold from in F2.
    rewrite N.mul_0_r, !N.shiftr_0_r in F2. simpl in F2. lia.
  - apply first_tick_le.
  - intros base' Hb Ht. apply slot_stays; auto.
Qed.

End Digits.
