(* Model.v - the algorithm of src/core, as functions on values.

   Times are natural numbers with the addition of 64-bit words: sums may wrap, and
   it is proved that none does. A lawn has the state of lawn.c, mow.c, blades.c,
   index.c and next.c, except for links: a queue is a list. A run is any list of
   operations. The steps of a mow (Work, Settle, Advance, Finish) are operations too,
   so any operation of a callback may come between two of them. README.md has a
   table of which definition models which function.

   Left out: how the index finds its earliest entry (Digits.v has its levels and
   slots); where unqueued timers are in the index, and how they move down (Wheel.v
   proves that those of one deadline stay in the order of this list); caches (front,
   earliest, horizon, plain, fetched); prefetching; resolutions other than 1;
   lawn_start_as() and lawn_halt(). Tuning and stripes are arbitrary: whenever the
   clock moves, the function from a TTL and a deadline to blades may be replaced by
   any other, or the lawn may begin or cease to bypass its blades. While it bypasses
   them, any free blade may be reserved for any TTL at any time. The limit of the work of a mow is arbitrary, too: a mow may stop at any
   time.

   Ghost fields, which C does not have: ttl, began and stamp of a timer; fresh and
   before of a mow; the log. *)

From Coq Require Import NArith List Bool Arith.
Import ListNotations.
Open Scope N_scope.

(* include/lawn.h: LAWN_LAST, LAWN_NEVER. *)
Definition WORD : N := 18446744073709551616.
Definition NEVER : N := 18446744073709551615.
Definition LAST : N := 18446744073709551614.

(* uint64_t *)
Definition plus (a b : N) : N := (a + b) mod WORD.
Definition minus (a b : N) : N := (a + (WORD - b)) mod WORD.

Record timer := Timer {
  name : nat;   (* identifies the timer *)
  due : N;      (* struct lawn_timer: deadline *)
  ttl : N;      (* at least 1 *)
  began : N;    (* the clock when it was started *)
  stamp : N     (* the number of earlier starts *)
}.

(* struct lawn_blade; None is LAWN_NEVER. *)
Record blade := Blade {
  of_ttl : option N;
  entry : option N;
  queue : list timer
}.

(* struct lawn_mowing *)
Record mowing := Mowing {
  until : N;
  left : N;
  budget : N;
  fresh : N;    (* starts before this mow *)
  before : N    (* fires before this mow *)
}.

Inductive event :=
| Started (x : timer) (idle : bool)
| Stopped (x : nat)
| Fired (x : timer) (until fresh : N)
| Mown (until budget returned fresh : N).   (* a mow returned *)

(* The blades that a TTL and a deadline may use: lawn__blades_at(), for the home
   and the second choice, under the current tuning. None: the blades are bypassed. *)
Definition tuning_fn := option (N -> N -> list nat).
Definition choices (h : tuning_fn) (t d : N) : list nat :=
  match h with Some f => f t d | None => [] end.

(* struct lawn *)
Record lawn := Lawn {
  now : N;
  base : N;             (* index.base *)
  bound : N;
  tuning : tuning_fn;
  blades : list blade;
  unqueued : list timer;    (* the unqueued timers of all slots, in one list *)
  last : list timer;
  mode : option mowing;
  starts : N;           (* all starts, including restarts *)
  log : list event      (* newest first *)
}.

Definition set_clock t h s :=
  Lawn t (base s) (bound s) h (blades s) (unqueued s) (last s) (mode s) (starts s)
    (log s).
Definition set_base b s :=
  Lawn (now s) b (bound s) (tuning s) (blades s) (unqueued s) (last s) (mode s)
    (starts s) (log s).
Definition set_bound b s :=
  Lawn (now s) (base s) b (tuning s) (blades s) (unqueued s) (last s) (mode s)
    (starts s) (log s).
Definition set_blades l s :=
  Lawn (now s) (base s) (bound s) (tuning s) l (unqueued s) (last s) (mode s)
    (starts s) (log s).
Definition set_unqueued l s :=
  Lawn (now s) (base s) (bound s) (tuning s) (blades s) l (last s) (mode s)
    (starts s) (log s).
Definition set_last l s :=
  Lawn (now s) (base s) (bound s) (tuning s) (blades s) (unqueued s) l (mode s)
    (starts s) (log s).
Definition set_mode m s :=
  Lawn (now s) (base s) (bound s) (tuning s) (blades s) (unqueued s) (last s) m
    (starts s) (log s).
Definition tick_starts s :=
  Lawn (now s) (base s) (bound s) (tuning s) (blades s) (unqueued s) (last s) (mode s)
    (starts s + 1) (log s).
Definition note e s :=
  Lawn (now s) (base s) (bound s) (tuning s) (blades s) (unqueued s) (last s) (mode s)
    (starts s) (e :: log s).

(* lawn.c: lawn_place(). *)
Definition init (t : N) (h : tuning_fn) (ways : nat) : lawn :=
  Lawn (N.min t LAST) (N.min t LAST) NEVER h (repeat (Blade None None []) ways)
    [] [] None 0 [].

Definition on_blades (l : list blade) : list timer := flat_map queue l.
Definition running (s : lawn) : list timer :=
  on_blades (blades s) ++ unqueued s ++ last s.
Definition pending (x : nat) (s : lawn) : bool :=
  existsb (fun t => Nat.eqb (name t) x) (running s).

Fixpoint update (w : nat) (b : blade) (l : list blade) : list blade :=
  match l, w with
  | [], _ => []
  | _ :: l, O => b :: l
  | a :: l, S w => a :: update w b l
  end.

(* list.h: lawn__list_remove(), in any place. The index entry does not change. *)
Definition drop (x : nat) (l : list timer) : list timer :=
  filter (fun t => negb (Nat.eqb (name t) x)) l.
Definition drop_blade (x : nat) (b : blade) : blade :=
  Blade (of_ttl b) (entry b) (drop x (queue b)).
Definition remove (x : nat) (s : lawn) : lawn :=
  set_blades (map (drop_blade x) (blades s))
    (set_unqueued (drop x (unqueued s)) (set_last (drop x (last s)) s)).

(* ticks.h: lawn__ticks_after(); and the TTL that it adds. *)
Definition counted (t : N) : N := if t =? 0 then 1 else t.
Definition after (t d : N) : N :=
  if d <? minus LAST t then plus t d else LAST.

(* blades.c: lawn__blades_find(). *)
Definition has_ttl (l : list blade) (t : N) (w : nat) : bool :=
  match nth_error l w with
  | Some b => match of_ttl b with Some u => u =? t | None => false end
  | None => false
  end.
Definition find_blade (s : lawn) (t d : N) : option nat :=
  find (has_ttl (blades s) t) (choices (tuning s) t d).

(* blades.c: lawn__blades_claim(). The operation chooses which free blade is claimed,
   or none. *)
Definition is_free (l : list blade) (w : nat) : bool :=
  match nth_error l w with
  | Some b => match queue b with [] => true | _ => false end
  | None => false
  end.
Definition claim_blade (s : lawn) (t d : N) (c : option nat) : option nat :=
  match c with
  | Some w => if existsb (Nat.eqb w) (choices (tuning s) t d) && is_free (blades s) w
              then Some w else None
  | None => None
  end.

(* lawn.c: find_or_claim_blade(). *)
Definition seek (s : lawn) (t d : N) (c : option nat) : option nat :=
  match find_blade s t d with
  | Some w => Some w
  | None => claim_blade s t d c
  end.

(* lawn.c: lower_bound(). *)
Definition lower_bound (d : N) (s : lawn) : lawn :=
  if d <? bound s then set_bound d s else s.

(* lawn.c: append_to_blade(), and the end of lawn_start(). *)
Definition put_blade (w : nat) (t : timer) (s : lawn) : lawn :=
  match nth_error (blades s) w with
  | None => s
  | Some b =>
      let early := match entry b with Some u => u <=? due t | None => false end in
      let q := queue b ++ [t] in
      if early then set_blades (update w (Blade (Some (ttl t)) (entry b) q) (blades s)) s
      else lower_bound (due t)
             (set_blades (update w (Blade (Some (ttl t)) (Some (due t)) q) (blades s)) s)
  end.
(* lawn.c: insert_unqueued(). *)
Definition put_unqueued (t : timer) (s : lawn) : lawn :=
  lower_bound (due t) (set_unqueued (unqueued s ++ [t]) s).
(* lawn.c: insert_at_last_tick(). *)
Definition put_last (t : timer) (s : lawn) : lawn :=
  lower_bound LAST (set_last (last s ++ [t]) s).

Definition place (t : timer) (c : option nat) (s : lawn) : lawn :=
  if due t =? LAST then put_last t s
  else match seek s (ttl t) (due t) c with
       | Some w => put_blade w t s
       | None => put_unqueued t s
       end.

(* lawn.c: lawn_start(). *)
Definition new_timer (x : nat) (d : N) (s : lawn) : timer :=
  Timer x (after (now s) (counted d)) (counted d) (now s) (starts s).
Definition start (x : nat) (d : N) (c : option nat) (s : lawn) : lawn :=
  let t := new_timer x d s in
  place t c
    (tick_starts (note (Started t (negb (pending x s))) (remove x s))).
(* lawn.c: lawn_start_at(). *)
Definition start_at (x : nat) (t : N) (c : option nat) (s : lawn) : lawn :=
  start x (if now s <? t then minus t (now s) else 0) c s.

(* lawn.c: lawn_stop(). *)
Definition stop (x : nat) (s : lawn) : lawn :=
  if pending x s then note (Stopped x) (remove x s) else s.

(* tuning.c: find_or_reserve_blade(). While the blades are bypassed, a sample gives a
   free blade to its TTL, but no timer. *)
Definition reserve (w : nat) (t : N) (s : lawn) : lawn :=
  match tuning s, nth_error (blades s) w with
  | None, Some b =>
      match queue b with
      | [] => set_blades (update w (Blade (Some t) (entry b) []) (blades s)) s
      | _ => s
      end
  | _, _ => s
  end.

(* internal.h: lawn__advance_clock(); the tuning may change when the clock moves. *)
Definition advance_clock (t : N) (h : tuning_fn) (s : lawn) : lawn :=
  if now s <? t then set_clock (if t <? LAST then t else LAST) h s else s.

(* The times in the index: entries of blades, and unqueued timers. index.h:
   lawn__index_first_slot(). *)
Definition entries (l : list blade) : list N :=
  flat_map (fun b => match entry b with Some t => [t] | None => [] end) l.
Definition times (s : lawn) : list N := map due (unqueued s) ++ entries (blades s).
Fixpoint least (l : list N) : option N :=
  match l with
  | [] => None
  | t :: l => match least l with Some u => Some (N.min t u) | None => Some t end
  end.
Definition first_time (s : lawn) : option N := least (times s).

(* index.c: lawn__index_update(). *)
Definition settled (b : blade) : blade :=
  Blade (of_ttl b)
    (match queue b with [] => None | t :: _ => Some (due t) end) (queue b).
Definition settle (w : nat) (s : lawn) : lawn :=
  match nth_error (blades s) w with
  | Some b => set_blades (update w (settled b) (blades s)) s
  | None => s
  end.

(* mow.c: lawn_mow(), mow_slow() up to mow_until(); index_last_tick(). *)
Definition take_last (s : lawn) : lawn :=
  set_unqueued (unqueued s ++ last s) (set_last [] s).
Definition is_fired (e : event) : bool :=
  match e with Fired _ _ _ => true | _ => false end.
Definition fires (s : lawn) : N := N.of_nat (length (filter is_fired (log s))).
(* early: it opens slots ahead of time, or reviews the tuning: lawn->wake may be before
   the bound. *)
Definition mow (t b : N) (h : tuning_fn) (early : bool) (s : lawn) : lawn :=
  match mode s with
  | Some _ => s
  | None =>
      let s := advance_clock t h s in
      if (t <? bound s) && negb early then note (Mown t b 0 (starts s)) s
      else set_bound 0
             (set_mode (Some (Mowing t b b (starts s) (fires s)))
                (if LAST <=? t then take_last s else s))
  end.

(* mow.c: fire_timer(). Its callback consists of the next operations. *)
Definition fire_timer (m : mowing) (t : timer) (s : lawn) : lawn :=
  note (Fired t (until m) (fresh m))
    (set_mode (Some (Mowing (until m) (left m - 1) (budget m) (fresh m) (before m)))
       (remove (name t) s)).

(* mow.c: one round of the loops of mow_until(), fire_tick() and
   fire_blade() or fire_in_turn(): a timer fires, or an entry is settled.
   The operation chooses which of the due blades is next. *)
Definition work_blade (m : mowing) (e : N) (w : nat) (s : lawn) : lawn :=
  match nth_error (blades s) w with
  | None => s
  | Some b =>
      match entry b with
      | None => s
      | Some u =>
          if u =? e then
            match queue b with
            | [] => settle w s
            | t :: _ => if e <? due t then settle w s else fire_timer m t s
            end
          else s
      end
  end.
Definition work (w : nat) (s : lawn) : lawn :=
  match mode s with
  | None => s
  | Some m =>
      if left m =? 0 then s
      else match first_time s with
           | None => s
           | Some e =>
               if until m <? e then s
               else
                 let s := set_base e s in
                 match find (fun t => due t =? e) (unqueued s) with
                 | Some t => fire_timer m t s
                 | None => work_blade m e w s
                 end
           end
  end.

(* mow.c: open_slots_of() and finish_mow(), as far as they move the base, to any time
   that the index allows. open_slot() moves entries of blades by Settle. *)
Definition advance (t : N) (s : lawn) : lawn :=
  match mode s with
  | None => s
  | Some _ =>
      if (base s <=? t) && (t <=? now s) && forallb (fun u => t <=? u) (times s)
      then set_base t s else s
  end.

(* mow.c: mow_until() ends, and mow_slow(). *)
Definition return_with (m : mowing) (b : N) (s : lawn) : lawn :=
  note (Mown (until m) (budget m) (budget m - left m) (fresh m))
    (set_bound b (set_mode None s)).

(* The work is used up: mow_slow() returns the budget, although fewer timers fired.
   The bound is a time that the index allows, and not after the mow's time. *)
Definition break_off (t : N) (s : lawn) : lawn :=
  match mode s with
  | None => s
  | Some m =>
      if (0 <? left m) && (t <=? until m) && forallb (fun u => t <=? u) (times s)
      then note (Mown (until m) (budget m) (budget m) (fresh m))
             (set_bound (N.min t LAST) (set_mode None s))
      else s
  end.
Definition finish (s : lawn) : lawn :=
  match mode s with
  | None => s
  | Some m =>
      if left m =? 0 then return_with m (base s) s
      else match first_time s with
           | None =>
               return_with m (match last s with [] => NEVER | _ => LAST end) s
           | Some e => if until m <? e then return_with m e s else s
           end
  end.

(* next.c: lawn_next_exact(), and lawn_next() if it may examine all entries that it
   needs. It settles entries, here all of them; an entry may be settled at any
   time. *)
Definition settle_all (s : lawn) : lawn := set_blades (map settled (blades s)) s.
Definition heads (s : lawn) : list timer :=
  flat_map (fun b => firstn 1 (queue b)) (blades s) ++ unqueued s ++ last s.
Definition next_stays (s : lawn) : bool :=
  existsb (fun t => due t =? bound s) (heads s).
Definition next_look (s : lawn) : N :=
  match first_time (settle_all s) with
  | Some e => e
  | None => match last s with [] => NEVER | _ => LAST end
  end.
Definition next (s : lawn) : N :=
  if next_stays s then bound s else next_look s.
Definition look (s : lawn) : lawn :=
  if next_stays s then s
  else match mode s with
       | None => set_bound (next_look s) (settle_all s)
       | Some _ => settle_all s
       end.

(* next.c: lawn_next(), if it may not examine all entries that it needs: it returns a
   time that the index allows. *)
Definition peek (t : N) (s : lawn) : lawn :=
  match mode s with
  | Some _ => s
  | None =>
      if (t <=? LAST) && forallb (fun u => t <=? u) (times s) then set_bound t s else s
  end.

Inductive op :=
| Start (x : nat) (d : N) (c : option nat)
| StartAt (x : nat) (t : N) (c : option nat)
| Stop (x : nat)
| SetNow (t : N) (h : tuning_fn)
| Next
| Peek (t : N)
| Mow (t b : N) (h : tuning_fn) (early : bool)
| Work (w : nat)
| Settle (w : nat)
| Advance (t : N)
| BreakOff (t : N)
| Finish
| Reserve (w : nat) (t : N).

Definition run (s : lawn) (o : op) : lawn :=
  match o with
  | Start x d c => start x d c s
  | StartAt x t c => start_at x t c s
  | Stop x => stop x s
  | SetNow t h => advance_clock t h s
  | Next => look s
  | Peek t => peek t s
  | Mow t b h e => mow t b h e s
  | Work w => work w s
  | Settle w => settle w s
  | Advance t => advance t s
  | BreakOff t => break_off t s
  | Finish => finish s
  | Reserve w t => reserve w t s
  end.
Definition runs (s : lawn) (l : list op) : lawn := fold_left run l s.

(* The states of a lawn of any size, begun at any time, after any operations. *)
Definition reachable (s : lawn) : Prop :=
  exists t h ways l, s = runs (init t h ways) l.
