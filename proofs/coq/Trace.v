(* Trace.v - is the model the code's? Runs the model through what trace.c told of a
   lawn, and says whether it agrees: on each timer that fires and its deadline, on
   what mows return, on what is next, on what runs in the end, and after each start on
   how many stand alone. What the model leaves open the code has decided: which of the
   blades that are due at one tick is next, and whether a start that finds no blade of
   its TTL claims a free one. The model has to allow it. *)

From Coq Require Import NArith List Bool Arith.
From Lawn Require Import Model.
Import ListNotations.
Open Scope N_scope.

(* blades.h and blades.c, for the smallest table: 16 homes and 28 spare ones. *)
Definition hash (t : N) : N := (t * 13787848793156543929) mod WORD.
Definition rehash (h : N) : N := (h * 1048576) mod WORD.
Definition home (h : N) : nat := N.to_nat (N.shiftr h 60).
Definition ways : nat := 44.
Definition set_of (w : nat) : list nat := let w := (w / 4 * 4)%nat in seq w 4.
Definition homes : habits := fun t _ =>
  set_of (home (hash t)) ++ set_of (home (rehash (hash t))).
Definition claims (t : N) : list nat :=
  let a := home (hash t) in
  let b := home (rehash (hash t)) in
  (a :: set_of a) ++ (b :: set_of b).

Definition claim_of (x : nat) (d : N) (s : lawn) : option nat :=
  find (is_free (blades (remove x s))) (claims (counted d)).

Inductive act :=
| S_ (x : nat) (d : N) (alone : nat)
| A_ (x : nat) (t : N) (alone : nat)
| X_ (x : nat)
| N_ (t : N)
| E_ (t : N)                     (* what is next is t *)
| B_ (t b : N)                   (* a mow begins *)
| F_ (x : nat) (d : N)           (* fires a timer; what follows is its callback *)
| R_ (n : N).                    (* returns *)

(* A tip that is stale is settled by the mow itself. *)
Definition stale (s : lawn) (w : nat) : bool :=
  match nth_error (blades s) w, first_time s with
  | Some b, Some e =>
      match tip b, queue b with
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
Definition no_lone (s : lawn) : bool :=
  match first_time s with
  | Some e => negb (existsb (fun t => due t =? e) (lone s))
  | None => true
  end.
Fixpoint settle_stale (fuel : nat) (s : lawn) : lawn :=
  match fuel, mode s with
  | S fuel, Some m =>
      match first_time s with
      | Some e =>
          if (e <=? until m) && negb (left m =? 0) && no_lone s then
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

Definition follow_start (x : nat) (d : N) (alone : nat) (s : lawn) : option lawn :=
  find (fun s => Nat.eqb (length (lone s ++ last s)) alone)
    [start x d (claim_of x d s) s; start x d None s].

Definition follow (s : lawn) (a : act) : option lawn :=
  match a with
  | S_ x d alone => follow_start x d alone s
  | A_ x t alone =>
      follow_start x (if now s <? t then minus t (now s) else 0) alone s
  | X_ x => Some (stop x s)
  | N_ t => Some (tell_time t homes s)
  | E_ t => if next s =? t then Some (look s) else None
  | B_ t b => Some (mow t b homes s)
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
  match follow_all (init t homes ways) l with
  | None => false
  | Some s =>
      Nat.eqb (length (running s)) (length run) &&
      forallb (fun p => existsb (fun t => Nat.eqb (name t) (fst p) && (due t =? snd p))
                          (running s)) run
  end.
