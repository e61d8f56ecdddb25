package io.github.pulsarspark.schema.convert

/** Bounds the columns that one schema may describe, those within others included. A record of two fields, both of a
  * record of two fields, and so on, describes billions of columns in a short text, of which the driver would die.
  */
private[schema] final class ColumnLimit {
  import ColumnLimit._

  private var columns = 0
  private var level   = 0

  /** Runs `body` for one column, or one part of it; fails with [[UnsupportedSchema]] beyond the limits. */
  def within[A](path: String)(body: => A): A = {
    columns += 1
    level += 1
    if (columns > Columns)
      throw new UnsupportedSchema("", s"it has more than $Columns columns, with those within others")
    if (level > Levels) throw new UnsupportedSchema(path.take(100), s"it is nested more than $Levels levels deep")
    try body
    finally level -= 1
  }
}

private[schema] object ColumnLimit {

  /** Columns of one schema, at most. */
  val Columns = 100000

  /** Levels of nested columns, at most. */
  val Levels = 200
}
