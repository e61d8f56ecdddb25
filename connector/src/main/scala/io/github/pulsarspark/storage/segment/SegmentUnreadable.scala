package io.github.pulsarspark.storage.segment

/** A segment cannot be read where its metadata said it is. Whoever reads it looks for the ledger again, or goes to the
  * broker; it never leaves this package.
  *
  * @param problem
  *   ledger, entry and what is wrong
  * @param silent
  *   bookies that have the entry and did not answer, which they may not do for other ledgers either; none when the
  *   entry itself is the problem
  */
private[storage] final class SegmentUnreadable(problem: String, cause: Throwable, val silent: Seq[String] = Nil)
    extends RuntimeException(problem, cause)
