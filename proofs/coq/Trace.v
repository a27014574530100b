(* Trace.v - compares the model with the code. It runs the model through the output of
   trace.c about a lawn, and returns whether they agree: on each timer that fires and
   its deadline, on the results of mows, on the next deadline, on the timers that run
   in the end, and after each start on the place of the timer: which blade, unqueued,
   or waiting for the last tick. Where the model allows several choices, the code has
   decided: which of the blades due at one tick is next, whether a start that finds no
   blade of its TTL claims the free one that blades.c would pick, which blade a start
   reserves, and the tuning of a lawn after its clock moves. The model has to allow that
   choice. *)

From Coq Require Import NArith List Bool Arith.
From Lawn Require Import Model.
Import ListNotations.
Open Scope N_scope.

(* blades.h and blades.c, for the smallest table: 16 homes and 28 spare blades. *)
Definition hash (t : N) : N := (t * 13787848793156543929) mod WORD.
Definition rehash (h : N) : N := (h * 1048576) mod WORD.
Definition home (h : N) : nat := N.to_nat (N.shiftr h 60).
Definition ways : nat := 44.
Definition set_of (w : nat) : list nat := let w := (w / 4 * 4)%nat in seq w 4.

(* The tuning: whether the lawn is in bypass mode, and the mask of the bits of a
   deadline that select a stripe. *)
Definition striped (h d stripe : N) : nat :=
  (home h + N.to_nat (N.land (4 * d) stripe))%nat.
Definition kept (bypass stripe : N) : tuning_fn :=
  if bypass =? 0 then
    Some (fun t d =>
      set_of (striped (hash t) d stripe) ++ set_of (striped (rehash (hash t)) d stripe))
  else None.

(* The blade that a start claims: the first free one of its home, the others of that
   set, its second home and the others of that set. Under the current tuning each
   choice has four blades. *)
Definition claims (t d : N) (s : lawn) : list nat :=
  match choices (tuning s) t d with
  | [] => []
  | sets =>
      let homes := fun h set =>
        filter (fun w => Nat.eqb (w mod 4) (home h mod 4)) set ++ set in
      homes (hash t) (firstn 4 sets) ++ homes (rehash (hash t)) (skipn 4 sets)
  end.
Definition claim_of (x : nat) (d : N) (s : lawn) : option nat :=
  find (is_free (blades (remove x s)))
    (claims (counted d) (after (now s) (counted d)) s).

Inductive stand := On (w : nat) | Unqueued | Last.

Definition has (x : nat) (l : list timer) : bool :=
  existsb (fun t => Nat.eqb (name t) x) l.
Definition stands (x : nat) (p : stand) (s : lawn) : bool :=
  match p with
  | On w => match nth_error (blades s) w with
            | Some b => has x (queue b)
            | None => false
            end
  | Unqueued => has x (unqueued s)
  | Last => has x (last s)
  end.

Inductive act :=
| S_ (x : nat) (d : N) (p : stand)
| G_ (w : nat) (t : N)           (* the start before it reserved a blade *)
| A_ (x : nat) (t : N) (p : stand)
| X_ (x : nat)
| N_ (t bypass stripe : N)
| E_ (t : N)                     (* the next deadline is t *)
| B_ (t b bypass stripe : N)      (* a mow begins *)
| F_ (x : nat) (d : N)           (* fires a timer; its callback follows *)
| R_ (n : N).                    (* returns *)

(* The mow settles a stale entry. *)
Definition stale (s : lawn) (w : nat) : bool :=
  match nth_error (blades s) w, first_time s with
  | Some b, Some e =>
      match entry b, queue b with
      | Some u, [] => u =? e
      | Some u, t :: _ => (u =? e) && (e <? due t)
      | None, _ => false
      end
  | _, _ => false
  end.
Definition fires_now (x : nat) (d : N) (s : lawn) : bool :=
  match log s with
  | Fired t _ _ :: _ => Nat.eqb (name t) x && (due t =? d)
  | _ => false
  end.
Definition no_unqueued (s : lawn) : bool :=
  match first_time s with
  | Some e => negb (existsb (fun t => due t =? e) (unqueued s))
  | None => true
  end.
Fixpoint settle_stale (fuel : nat) (s : lawn) : lawn :=
  match fuel, mode s with
  | S fuel, Some m =>
      match first_time s with
      | Some e =>
          if (e <=? until m) && negb (left m =? 0) && no_unqueued s then
            match find (stale s) (seq 0 ways) with
            | Some w => settle_stale fuel (work w s)
            | None => s
            end
          else s
      | None => s
      end
  | _, _ => s
  end.
Definition blade_of (x : nat) (s : lawn) : nat :=
  match find (fun w => match nth_error (blades s) w with
                       | Some b => match queue b with
                                   | t :: _ => Nat.eqb (name t) x
                                   | [] => false
                                   end
                       | None => false
                       end) (seq 0 ways) with
  | Some w => w
  | None => O
  end.

Definition follow_start (x : nat) (d : N) (p : stand) (s : lawn) : option lawn :=
  find (stands x p)
    [start x d (claim_of x d s) s; start x d None s].

(* A blade is reserved if no blade of the TTL would be found without stripes, and it
   will be found then. *)
Definition follow_reserve (w : nat) (t : N) (s : lawn) : option lawn :=
  let found := find_blade (set_clock (now s) (kept 0 0) s) t 0 in
  let s' := reserve w t s in
  match found, find_blade (set_clock (now s) (kept 0 0) s') t 0 with
  | None, Some v => if Nat.eqb v w then Some s' else None
  | _, _ => None
  end.

Definition follow (s : lawn) (a : act) : option lawn :=
  match a with
  | S_ x d p => follow_start x d p s
  | A_ x t p => follow_start x (if now s <? t then minus t (now s) else 0) p s
  | G_ w t => follow_reserve w t s
  | X_ x => Some (stop x s)
  | N_ t bypass stripe => Some (advance_clock t (kept bypass stripe) s)
  | E_ t => if next s =? t then Some (look s) else None
  | B_ t b bypass stripe => Some (mow t b (kept bypass stripe) false s)
  | F_ x d =>
      let s := settle_stale 100 s in
      let s := work (blade_of x s) s in
      if fires_now x d s then Some s else None
  | R_ n =>
      let s := match mode s with Some _ => finish (settle_stale 100 s) | None => s end in
      match mode s, log s with
      | None, Mown _ _ k _ :: _ => if k =? n then Some s else None
      | _, _ => None
      end
  end.

Fixpoint follow_all (s : lawn) (l : list act) : option lawn :=
  match l with
  | [] => Some s
  | a :: l => match follow s a with Some s => follow_all s l | None => None end
  end.

Definition agrees (t : N) (l : list act) (run : list (nat * N)) : bool :=
  match follow_all (init t (kept 0 0) ways) l with
  | None => false
  | Some s =>
      Nat.eqb (length (running s)) (length run) &&
      forallb (fun p => existsb (fun t => Nat.eqb (name t) (fst p) && (due t =? snd p))
                          (running s)) run
  end.
