addSbtPlugin("com.eed3si9n"  % "sbt-assembly"    % "2.3.1")
addSbtPlugin("com.eed3si9n"  % "sbt-buildinfo"   % "0.13.2")
addSbtPlugin("org.scalameta" % "sbt-scalafmt"    % "2.6.2")
addSbtPlugin("com.typesafe"  % "sbt-mima-plugin" % "1.1.4")
