(* Digits.v - the slots of the index: why a slot can be opened while the base passes
   through the one before it, and why a time and its level determine its slot [I4].

   From index.h: lowest is the level that lawn__index_slot_of() chooses, slot is
   lawn__index_slot_at(), ahead is lawn__index_slots_ahead(), and first_tick is
   lawn__index_slot_start(), with any number of bits per level and times of any size.
   A level has 2 ^ (bits + 1) slots, which are used in turn. proofs/cbmc proves that
   the 64-bit shifts, masks and tables in C compute these. *)

From Coq Require Import NArith Lia.
Open Scope N_scope.

Section Digits.

Variable bits : N.
Hypothesis bits_pos : 0 < bits.

(* The number that a time's slot on a level would have if slots were not used in turn;
   and the number of slots of a level from the base to a time. *)
Definition from (level time : N) : N := N.shiftr time (bits * level).
Definition between (level base time : N) : N := from level time - from level base.

(* A level reaches a time if, on the level above, the time is in the slot of the base
   or in the next one. *)
Definition reaches (level base time : N) : Prop := between (level + 1) base time <= 1.

Definition slots : N := 2 ^ (bits + 1).
Definition slot (level time : N) : N := from level time mod slots.
Definition ahead (level base s : N) : N :=
  (s + (slots - from level base mod slots)) mod slots.
Definition first_tick (level base s : N) : N :=
  (from level base + ahead level base s) * 2 ^ (bits * level).

Lemma pow_pos n : 0 < 2 ^ n.
Proof. apply N.neq_0_lt_0. apply N.pow_nonzero. discriminate. Qed.

Lemma from_div l t : from l t = t / 2 ^ (bits * l).
Proof. apply N.shiftr_div_pow2. Qed.

Lemma from_mono l t1 t2 : t1 <= t2 -> from l t1 <= from l t2.
Proof.
  intros H. rewrite !from_div. apply N.div_le_mono; auto.
  pose proof (pow_pos (bits * l)). lia.
Qed.

Lemma from_next l t : from (l + 1) t = from l t / 2 ^ bits.
Proof.
  unfold from. rewrite <- N.shiftr_div_pow2, N.shiftr_shiftr. f_equal. lia.
Qed.

(* What a level reaches fits into its slots. *)
Lemma reach_fits l base t : base <= t -> reaches l base t -> between l base t < slots.
Proof.
  unfold reaches, between, slots. intros Hb H. rewrite !from_next in H.
  rewrite N.pow_add_r. change (2 ^ 1) with 2.
  pose proof (pow_pos bits) as Hp. pose proof (from_mono l _ _ Hb) as Hm.
  set (x := from l t) in *. set (y := from l base) in *. set (p := 2 ^ bits) in *.
  pose proof (N.div_mod x p ltac:(lia)) as Dx.
  pose proof (N.div_mod y p ltac:(lia)) as Dy.
  pose proof (N.mod_lt x p ltac:(lia)) as Mx.
  assert (Hq : x / p <= y / p + 1) by lia.
  apply (N.mul_le_mono_l _ _ p) in Hq. rewrite N.mul_add_distr_l in Hq.
  clear H. clearbody x y p. revert Dx Dy Mx Hq.
  generalize (x mod p), (y mod p), (p * (x / p)), (p * (y / p)).
  intros. lia.
Qed.

(* A higher level reaches what a lower one does. *)
Lemma between_up l base t : base <= t -> between l base t <= 1 ->
  between (l + 1) base t <= 1.
Proof.
  unfold between. intros Hb H. rewrite !from_next.
  pose proof (pow_pos bits). pose proof (from_mono l _ _ Hb).
  assert (from l t / 2 ^ bits <= (from l base + 1 * 2 ^ bits) / 2 ^ bits).
  { apply N.div_le_mono; lia. }
  rewrite N.div_add in * by lia. lia.
Qed.

Lemma reaches_up l base t : base <= t -> reaches l base t -> reaches (l + 1) base t.
Proof. unfold reaches. intros Hb H. apply between_up; auto. Qed.

Lemma reaches_above l k base t : base <= t -> l <= k -> reaches l base t ->
  reaches k base t.
Proof.
  intros Hb Hk H. replace k with (l + (k - l)) by lia.
  induction (k - l) as [|n IH] using N.peano_ind.
  - rewrite N.add_0_r. auto.
  - replace (l + N.succ n) with (l + n + 1) by lia. apply reaches_up; auto.
Qed.

(* As the base advances, a level keeps reaching a time. *)
Lemma reaches_later l base base' t : base <= base' -> base' <= t ->
  reaches l base t -> reaches l base' t.
Proof.
  unfold reaches, between. intros H1 H2 H. pose proof (from_mono (l + 1) _ _ H1). lia.
Qed.

(* Around the circle, the slot of a time is as many slots ahead of the base as there
   are slots of the level from the base to the time. *)
Lemma ahead_slot l base t : base <= t -> between l base t < slots ->
  ahead l base (slot l t) = between l base t.
Proof.
  unfold ahead, slot, between. intros Hb H. pose proof (from_mono l _ _ Hb) as Hm.
  assert (Hs : 0 < slots) by apply pow_pos.
  set (x := from l t) in *. set (y := from l base) in *.
  pose proof (N.mod_lt y slots ltac:(lia)) as Hy.
  rewrite N.add_mod_idemp_l by lia.
  replace (x + (slots - y mod slots)) with
    (x - y + (1 + y / slots) * slots).
  - rewrite N.mod_add by lia. apply N.mod_small. auto.
  - pose proof (N.div_mod y slots ltac:(lia)) as D.
    rewrite N.mul_add_distr_r, N.mul_1_l, (N.mul_comm (y / slots)).
    clearbody x y. revert D Hy. generalize (y mod slots), (slots * (y / slots)).
    intros. lia.
Qed.

Lemma first_tick_le l base t : base <= t -> between l base t < slots ->
  first_tick l base (slot l t) = from l t * 2 ^ (bits * l) /\
  first_tick l base (slot l t) <= t < first_tick l base (slot l t) + 2 ^ (bits * l).
Proof.
  intros Hb H. unfold first_tick. rewrite ahead_slot by auto. unfold between.
  pose proof (from_mono l _ _ Hb).
  replace (from l base + (from l t - from l base)) with (from l t) by lia.
  split; auto. rewrite from_div. pose proof (pow_pos (bits * l)) as Hp.
  set (p := 2 ^ (bits * l)) in *.
  pose proof (N.div_mod t p ltac:(lia)) as D. pose proof (N.mod_lt t p ltac:(lia)) as M.
  rewrite (N.mul_comm (t / p)). clearbody p. revert D M.
  generalize (t mod p), (p * (t / p)). intros. lia.
Qed.

(* A time on a level that reaches it stays in its slot, within the circle of slots,
   while the base advances up to the time; its slot begins at the same tick. Of two
   such times, the one in the slot that comes first is the earlier. A slot of level 0
   is one tick. *)
Theorem digits base base' l t1 t2 : base <= base' -> base' <= t1 -> base' <= t2 ->
  reaches l base t1 -> reaches l base t2 ->
  (ahead l base' (slot l t1) < slots) /\
  (first_tick l base' (slot l t1) = first_tick l base (slot l t1)) /\
  (first_tick l base' (slot l t1) <= t1 <
     first_tick l base' (slot l t1) + 2 ^ (bits * l)) /\
  (ahead l base' (slot l t1) < ahead l base' (slot l t2) -> t1 < t2) /\
  (slot l t1 = slot l t2 -> l = 0 -> t1 = t2).
Proof.
  intros H1 H2 H3 R1 R2.
  assert (F1 : between l base t1 < slots) by (apply reach_fits; auto; lia).
  assert (R1' : reaches l base' t1) by (apply (reaches_later l base); auto).
  assert (R2' : reaches l base' t2) by (apply (reaches_later l base); auto).
  assert (F1' : between l base' t1 < slots) by (apply reach_fits; auto).
  assert (F2' : between l base' t2 < slots) by (apply reach_fits; auto).
  destruct (first_tick_le l base t1 ltac:(lia) F1) as (E & _).
  destruct (first_tick_le l base' t1 H2 F1') as (E' & L).
  repeat split; try apply L.
  - rewrite ahead_slot by auto. auto.
  - congruence.
  - rewrite !ahead_slot by auto. intros Ha. unfold between in Ha.
    destruct (N.lt_ge_cases t1 t2) as [|Hge]; auto.
    pose proof (from_mono l _ _ Hge). lia.
  - intros Es El. subst l.
    assert (A : between 0 base' t1 = between 0 base' t2).
    { rewrite <- !(ahead_slot 0) by auto. congruence. }
    unfold between in A. rewrite !from_div, N.mul_0_r, N.pow_0_r, !N.div_1_r in A. lia.
Qed.

(* A time in the slot of the base or in the next one, of a level above 0, is reached
   by the level below: so such a slot gets no new times, and its times can move
   down. *)
Theorem opens l base t : base <= t -> reaches (l + 1) base t ->
  ahead (l + 1) base (slot (l + 1) t) <= 1 -> reaches l base t.
Proof.
  intros Hb H Ha. rewrite ahead_slot in Ha; auto. apply reach_fits; auto.
Qed.

(* The level that a time is inserted at: the lowest that reaches it. On a level above
   0, it is neither in the slot of the base nor in the next one. *)
Definition lowest (l base t : N) : Prop :=
  reaches l base t /\ forall k, k < l -> ~ reaches k base t.

Theorem not_near l base t : base <= t -> lowest l base t -> 0 < l ->
  1 < between l base t.
Proof.
  intros Hb (H1 & H2) Hl. destruct (N.le_gt_cases (between l base t) 1) as [H|]; auto.
  exfalso. apply (H2 (l - 1)); [lia|]. unfold reaches.
  replace (l - 1 + 1) with l by lia. auto.
Qed.

(* A level that is not below the lowest one reaches the time, too, also from a later
   base. *)
Theorem stays_reached l k base base' t : base <= base' -> base' <= t ->
  lowest l base t -> l <= k -> reaches k base' t.
Proof.
  intros H1 H2 (H & _) Hk. apply (reaches_later k base); auto.
  apply (reaches_above l); auto. lia.
Qed.

End Digits.
