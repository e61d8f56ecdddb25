/** What Spark's own launcher opens to itself on Java 17, for the forked tests that start it. */
object JvmFlags {
  private val opened = Seq(
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5"
  )

  val spark: Seq[String] =
    opened.map(name => s"--add-opens=$name=ALL-UNNAMED")
}
