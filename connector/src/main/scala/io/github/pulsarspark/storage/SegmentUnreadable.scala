package io.github.pulsarspark.storage

/** A segment cannot be read where its metadata said it is. Whoever reads it looks for the ledger again, or goes to the broker; it never leaves this package.
  *
  * @param problem
  *   ledger, entry and what is wrong
  */
private[storage] final class SegmentUnreadable(problem: String, cause: Throwable) extends RuntimeException(problem, cause)
