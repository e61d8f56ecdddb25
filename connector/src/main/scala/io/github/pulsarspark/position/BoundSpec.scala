package io.github.pulsarspark.position

/** The start or the end of a whole read: one spec for every topic partition.
  *
  * @param option
  *   the option that it was parsed from, for errors
  */
sealed abstract class BoundSpec { def option: String }

object BoundSpec {
  final case class Everywhere(option: String, spec: PositionSpec)         extends BoundSpec
  final case class Each(option: String, specs: Map[String, PositionSpec]) extends BoundSpec
}
