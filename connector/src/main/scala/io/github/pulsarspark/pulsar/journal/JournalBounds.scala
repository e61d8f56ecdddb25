package io.github.pulsarspark.pulsar.journal

import io.github.pulsarspark.position.Position

/** Place of the records of a journal.
  *
  * @param root
  *   the position before the first record that is needed
  * @param last
  *   the last record, as far as the broker says it: it does not when the newest ledger is empty
  */
private[pulsarspark] final case class JournalBounds(root: Position, last: Option[Position])
