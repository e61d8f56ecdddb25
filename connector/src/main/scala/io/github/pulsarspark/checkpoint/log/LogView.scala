package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.position.Position

/** Knowledge of a log in one JVM: the state after all records up to a place, or what leads to one. Immutable and pure.
  *
  * @param seen
  *   the store whose log it was before
  */
private[checkpoint] final case class LogView(
    state: Either[LogReplay, LogState],
    place: Position,
    seen: Option[UUID] = None
) {
  def store: Option[UUID] = state.fold(_ => seen, s => Some(s.store))

  /** The view after the next record. */
  def after(state: LogState, record: LogRecord, at: Position): (LogView, Folded) = {
    val folded = state + record
    (LogView(Right(folded.state), at, store), folded)
  }

  /** The view after a record that the broker says to have stored here. None unless it is the next one: the entries of a
    * ledger have consecutive numbers, so that only the entry that directly follows the last one has no other before it.
    */
  def stored(record: LogRecord, at: Position): Option[(LogView, Folded)] = state.toOption
    .filter(_ => !place.isBeforeLedger && at.preceding == place)
    .map(after(_, record, at))
}

private[checkpoint] object LogView {

  /** View before the first record, of which nothing but its place is known. */
  def begin(root: Position): LogView = LogView(Left(LogReplay()), root)
}
